"""A debate as a document: its rounds, its verdict and its costs."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from antiphon.money import format_usd
from antiphon.threads.export.document import Bar, Block, Document, Heading, Note, Quote, Strong, Table, Turn, Words
from antiphon.threads.kinds import Json, Record

COST_HEADS = ("model", "requests", "input", "cached", "output", "USD")


def debate_document(record: Record) -> Document:
    """A debate to be read, printed or sent."""
    debate = record.content
    sides = ", ".join(f"{speaker['name']} ({speaker['position']})" for speaker in debate["participants"])
    facts = [("Debate", record.view.id), ("Format", debate["format"] or ""), ("Sides", sides)]
    facts += [("Status", record.view.status), ("Cost", format_usd(debate["costTracker"]["totalCost"]))]
    return Document(debate["topic"] or "", facts, [*_rounds(debate), *_verdict(debate), *_costs(debate)])


def _rounds(debate: Json) -> Iterator[Block]:
    speakers = {speaker["id"]: speaker for speaker in debate["participants"]}
    for each in debate["rounds"]:
        yield Heading(round_title(each))
        for said in each["responses"]:
            speaker = speakers[said["participantId"]]
            failure = Note(f"did not answer: {failure_reason(said)}")
            blocks: list[Block] = [failure if said.get("failed") else Words(said["content"])]
            yield Turn(speaker["name"], blocks, color=speaker["color"])
        for note in interjections(debate, each):
            yield Quote(f"From the audience: {note['text']}")


def _verdict(debate: Json) -> Iterator[Block]:
    verdict = debate["verdict"]
    if verdict is None:
        return
    names = _names(debate)
    colors = {speaker["id"]: speaker["color"] for speaker in debate["participants"]}
    criteria = list(verdict["criteria"])
    yield Heading("Verdict")
    yield Strong(decision(debate))
    yield Table(
        ("", "score", "", *criteria),
        [
            (
                names.get(id, id),
                str(score),
                Bar(score, colors.get(id, "#888888")),
                *(str(criterion_score(verdict, name, id)) for name in criteria),
            )
            for id, score in verdict["scores"].items()
        ],
    )
    yield Words(verdict["reasoning"])


def _costs(debate: Json) -> Iterator[Block]:
    yield Heading("Costs")
    yield Table(COST_HEADS, cost_rows(debate))
    for note in cost_notes(debate):
        yield Note(note)


def round_title(each: Json) -> str:
    """The title of a round."""
    number = each["roundNumber"]
    title = {"opening": "Openings", "rebuttal": f"Round {number}", "closing": "Closings"}[each["phase"]]
    return f"{title} (cut short)" if each.get("partial") else title


def failure_reason(said: Json) -> str:
    """Why a debater did not answer."""
    return str((said.get("error") or {}).get("message") or "nothing came")


def interjections(debate: Json, each: Json) -> list[Json]:
    """What the audience said during a round."""
    place = (each["phase"], each["roundNumber"])
    return [note for note in debate["interjections"] if (note["phase"], max(1, note["roundNumber"])) == place]


def decision(debate: Json) -> str:
    """The verdict in a few words."""
    verdict = debate["verdict"]
    if verdict["tie"] or verdict["winner"] is None:
        return "A tie"
    return f"{_names(debate).get(verdict['winner'], verdict['winner'])} wins"


def criterion_score(verdict: Json, criterion: str, id: str) -> Any:
    """The score of a debater by one criterion."""
    marks = verdict["criteria"][criterion]
    return marks.get(id, "") if isinstance(marks, Mapping) else marks


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
    """What the total leaves out."""
    tracker = debate["costTracker"]
    if Decimal(tracker["overshoot"]) > 0:
        yield f"The limit of {tracker['limitThreshold']} USD was passed by {tracker['overshoot']} USD."
    if tracker["unseen"]["calls"]:
        calls = tracker["unseen"]["calls"]
        yield f"Nobody saw the end of {calls} calls; they may have cost up to {tracker['unseen']['cost']} USD more."
    if tracker["unpriced"]:
        yield f"The price of {tracker['unpriced']} calls is not known."


def _names(debate: Json) -> dict[str, str]:
    return {speaker["id"]: speaker["name"] for speaker in debate["participants"]}
