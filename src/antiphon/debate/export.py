"""Export of a debate as a document: rounds, verdict and costs."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from antiphon.money import format_usd
from antiphon.threads.export.document import Bar, Block, Document, Heading, Note, Quote, Strong, Table, Turn, Words
from antiphon.threads.kinds import Json, Record

COST_HEADS = ("model", "requests", "input", "cached", "output", "USD")


def debate_document(record: Record) -> Document:
    """Convert a debate to a document."""
    debate = record.content
    sides = ", ".join(f"{speaker['name']} ({speaker['position']})" for speaker in debate["participants"])
    facts = [("Debate", record.view.id), ("Format", debate["format"] or ""), ("Sides", sides)]
    facts += [("Status", record.view.status), ("Cost", format_usd(debate["costTracker"]["totalCost"]))]
    return Document(debate["topic"] or "", facts, [*_rounds(debate), *_verdict(debate), *_costs(debate)])


def _rounds(debate: Json) -> Iterator[Block]:
    speakers = {speaker["id"]: speaker for speaker in debate["participants"]}
    for debate_round in debate["rounds"]:
        yield Heading(round_title(debate_round))
        for response in debate_round["responses"]:
            speaker = speakers[response["participantId"]]
            failure = Note(f"did not answer: {failure_reason(response)}")
            blocks: list[Block] = [failure if response.get("failed") else Words(response["content"])]
            yield Turn(speaker["name"], blocks, color=speaker["color"])
        for note in interjections(debate, debate_round):
            yield Quote(f"From the audience: {note['text']}")


def _verdict(debate: Json) -> Iterator[Block]:
    verdict = debate["verdict"]
    if verdict is None:
        return
    names = _names(debate)
    colors = {speaker["id"]: speaker["color"] for speaker in debate["participants"]}
    criteria = scored_criteria(verdict)
    yield Heading("Verdict")
    yield Strong(decision(debate))
    yield Table(
        ("", "score", "", *criteria),
        [
            (
                names.get(id, id),
                str(score),
                Bar(score, colors.get(id, "#888888")),
                *(str(verdict["criteria"][name].get(id, "")) for name in criteria),
            )
            for id, score in verdict["scores"].items()
        ],
    )
    if evaluations := criteria_in_words(verdict):
        yield Table(("criterion", "evaluation"), evaluations, text_columns=2)
    yield Words(verdict["reasoning"])


def _costs(debate: Json) -> Iterator[Block]:
    yield Heading("Costs")
    yield Table(COST_HEADS, cost_rows(debate))
    for note in cost_notes(debate):
        yield Note(note)


def round_title(debate_round: Json) -> str:
    """Return the title of a round."""
    number = debate_round["roundNumber"]
    title = {"opening": "Openings", "rebuttal": f"Round {number}", "closing": "Closings"}[debate_round["phase"]]
    return f"{title} (cut short)" if debate_round.get("partial") else title


def failure_reason(response: Json) -> str:
    """Return why a debater did not answer."""
    return str((response.get("error") or {}).get("message") or "nothing came")


def interjections(debate: Json, debate_round: Json) -> list[Json]:
    """Return the messages of the audience during a round."""
    place = (debate_round["phase"], debate_round["roundNumber"])
    return [note for note in debate["interjections"] if (note["phase"], max(1, note["roundNumber"])) == place]


def decision(debate: Json) -> str:
    """Describe the verdict in a few words."""
    verdict = debate["verdict"]
    if verdict["tie"] or verdict["winner"] is None:
        return "A tie"
    return f"{_names(debate).get(verdict['winner'], verdict['winner'])} wins"


def scored_criteria(verdict: Json) -> list[str]:
    """Return the criteria by which each debater has a score of its own."""
    return [name for name, marks in verdict["criteria"].items() if isinstance(marks, Mapping)]


def criteria_in_words(verdict: Json) -> list[tuple[str, str]]:
    """Return the other criteria, each with its evaluation as text."""
    return [(name, str(marks)) for name, marks in verdict["criteria"].items() if not isinstance(marks, Mapping)]


def cost_rows(debate: Json) -> list[list[str]]:
    """Return a row for the usage of each model, and one for the total."""
    rows = [
        [
            model + (" (estimated)" if usage["estimated"] else ""),
            str(usage["requestCount"]),
            str(usage["inputTokens"]),
            str(usage["cachedReadTokens"] + usage["cachedWriteTokens"]),
            str(usage["outputTokens"]),
            usage["totalCost"],
        ]
        for model, usage in debate["tokenUsage"].items()
    ]
    return [*rows, ["total", "", "", "", "", debate["costTracker"]["totalCost"]]]


def cost_notes(debate: Json) -> Iterator[str]:
    """Yield notes on costs outside the total."""
    tracker = debate["costTracker"]
    if Decimal(tracker["overshoot"]) > 0:
        yield f"The limit of {tracker['limitThreshold']} USD was exceeded by {tracker['overshoot']} USD."
    if tracker["unseen"]["calls"]:
        calls = tracker["unseen"]["calls"]
        noun = "call" if calls == 1 else "calls"
        yield f"The usage of {calls} {noun} is unknown; up to {tracker['unseen']['cost']} USD more may have been spent."
    if tracker["unpriced"]:
        noun = "call" if tracker["unpriced"] == 1 else "calls"
        yield f"The price of {tracker['unpriced']} {noun} is unknown."


def _names(debate: Json) -> dict[str, str]:
    return {speaker["id"]: speaker["name"] for speaker in debate["participants"]}
