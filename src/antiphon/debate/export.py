"""A debate as a file: Markdown, HTML that needs nothing else and prints well, or JSON."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from html import escape
from typing import Any

from antiphon.threads.export.pages import html_table, markdown_table, page, paragraphs, to_json

__all__ = ["to_html", "to_json", "to_markdown"]
Json = Mapping[str, Any]
BAR = 20
COST_HEADS = ("model", "requests", "input", "cached", "output", "USD")


def to_markdown(debate: Json) -> str:
    """The debate to be read, as Markdown."""
    return "\n".join(_markdown(debate)) + "\n"


def _markdown(debate: Json) -> Iterator[str]:
    names = _names(debate)
    yield f"# {debate['topic']}"
    yield ""
    yield f"{debate['format']}, {', '.join(_side(one) for one in debate['participants'])}."
    for one in debate["rounds"]:
        yield from ("", f"## {round_title(one)}")
        for said in one["responses"]:
            text = f"*did not answer: {reason(said)}*" if said.get("failed") else said["content"]
            yield from ("", f"### {names[said['participantId']]}", "", text)
        for note in interjections(debate, one):
            yield from ("", f"> From the audience: {note['text']}")
    verdict = debate["verdict"]
    if verdict is not None:
        yield from ("", "## Verdict", "", f"**{decision(debate)}**", "")
        criteria = list(verdict["criteria"])
        yield f"| | score | | {' | '.join(criteria)} |"
        yield f"|---|---:|---|{'---:|' * len(criteria)}"
        for id, score in verdict["scores"].items():
            cells = [str(mark(verdict, name, id)) for name in criteria]
            yield f"| {names.get(id, id)} | {score} | {bar(score)} | {' | '.join(cells)} |"
        yield from ("", verdict["reasoning"])
    yield from ("", "## Costs", "", *markdown_table(COST_HEADS, cost_rows(debate)))
    yield from (f"\n{note}" for note in cost_notes(debate))


def to_html(debate: Json) -> str:
    """The debate to be read, printed or sent, as one HTML file without scripts or references."""
    return page(debate["topic"], "\n".join(_html(debate)))


def _html(debate: Json) -> Iterator[str]:
    names, colors = _names(debate), {one["id"]: one["color"] for one in debate["participants"]}
    sides = ", ".join(_side(one) for one in debate["participants"])
    yield f"<p>{escape(debate['format'])}, {escape(sides)}.</p>"
    for one in debate["rounds"]:
        yield f"<h2>{escape(round_title(one))}</h2>"
        for said in one["responses"]:
            id = said["participantId"]
            text = paragraphs(said["content"])
            if said.get("failed"):
                text = f'<p class="note">did not answer: {escape(reason(said))}</p>'
            head = f"<h3>{escape(names[id])}</h3>"
            yield f'<section class="turn" style="border-color: {escape(colors[id])}">{head}{text}</section>'
        for note in interjections(debate, one):
            yield f"<blockquote>From the audience: {escape(note['text'])}</blockquote>"
    yield from _html_verdict(debate, names, colors)
    yield f"<h2>Costs</h2>\n{html_table(COST_HEADS, cost_rows(debate))}"
    yield from (f'<p class="note">{escape(note)}</p>' for note in cost_notes(debate))


def _html_verdict(debate: Json, names: Json, colors: Json) -> Iterator[str]:
    verdict = debate["verdict"]
    if verdict is None:
        return
    heads = "".join(f"<th>{escape(name)}</th>" for name in ("", "score", "", *verdict["criteria"]))
    yield f"<h2>Verdict</h2>\n<p><strong>{escape(decision(debate))}</strong></p>\n<table><tr>{heads}</tr>"
    for id, score in verdict["scores"].items():
        color = escape(colors.get(id, "#888888"))
        drawn = f'<span class="bar" style="width: {score * 2:g}px; background: {color}"></span>'
        cells = "".join(f"<td>{escape(str(mark(verdict, name, id)))}</td>" for name in verdict["criteria"])
        yield f"<tr><td>{escape(names.get(id, id))}</td><td>{score}</td><td>{drawn}</td>{cells}</tr>"
    yield f"</table>\n{paragraphs(verdict['reasoning'])}"


def round_title(one: Json) -> str:
    """What a round is called."""
    title = {"opening": "Openings", "rebuttal": f"Round {one['roundNumber']}", "closing": "Closings"}[one["phase"]]
    return f"{title} (cut short)" if one.get("partial") else title


def reason(said: Json) -> str:
    """Why a debater did not answer."""
    return str((said.get("error") or {}).get("message") or "nothing came")


def interjections(debate: Json, one: Json) -> list[Json]:
    """What was thrown in during a round."""
    where = (one["phase"], one["roundNumber"])
    return [note for note in debate["interjections"] if (note["phase"], max(1, note["roundNumber"])) == where]


def decision(debate: Json) -> str:
    """Who has won."""
    verdict = debate["verdict"]
    if verdict["tie"] or verdict["winner"] is None:
        return "A tie"
    return f"{_names(debate).get(verdict['winner'], verdict['winner'])} wins"


def mark(verdict: Json, criterion: str, id: str) -> Any:
    """The score by one criterion."""
    marks = verdict["criteria"][criterion]
    return marks.get(id, "") if isinstance(marks, Mapping) else marks


def bar(score: float) -> str:
    """A score as a bar."""
    full = round(score / 100 * BAR)
    return "█" * full + "░" * (BAR - full)


def cost_rows(debate: Json) -> list[list[str]]:
    """What each model used, and the total."""
    rows = [
        [
            model + (" (estimated)" if used["estimated"] else ""),
            str(used["requestCount"]),
            str(used["inputTokens"]),
            str(used["cachedReadTokens"] + used["cachedWriteTokens"]),
            str(used["outputTokens"]),
            used["totalCost"],
        ]
        for model, used in debate["tokenUsage"].items()
    ]
    return [*rows, ["total", "", "", "", "", debate["costTracker"]["totalCost"]]]


def cost_notes(debate: Json) -> Iterator[str]:
    """What the total does not say."""
    tracker = debate["costTracker"]
    if Decimal(tracker["overshoot"]) > 0:
        yield f"The limit of {tracker['limitThreshold']} USD was passed by {tracker['overshoot']} USD."
    if tracker["unseen"]["calls"]:
        calls, cost = tracker["unseen"]["calls"], tracker["unseen"]["cost"]
        yield f"Nobody saw the end of {calls} calls; they may have cost up to {cost} USD more."
    if tracker["unpriced"]:
        yield f"The price of {tracker['unpriced']} calls is not known."


def _names(debate: Json) -> dict[str, str]:
    return {one["id"]: one["name"] for one in debate["participants"]}


def _side(one: Json) -> str:
    return f"{one['name']} ({one['position']})"
