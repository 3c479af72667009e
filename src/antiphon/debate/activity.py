"""What happens in a debate, as whoever shows it needs it: read from the journal, and from nothing else."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from antiphon.runtime.records import Entry

Kind = Literal[
    "status", "text", "thinking", "state", "round_started", "turn_started", "turn_ended", "round_recorded", "cost",
    "cost_warning", "interjection", "judging", "verdict", "error", "result", "completed",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)
REPLY = "debate/reply-"
CHUNKS: Mapping[str, Kind] = {"TEXT_CHUNK": "text", "THINKING_CHUNK": "thinking"}


@dataclass(frozen=True, slots=True)
class DebateHappening:
    """One thing that happened, at a step of the journal."""

    seq: int
    at: int
    kind: Kind
    facts: Mapping[str, Any] = field(default_factory=dict)


def debate_happenings(entry: Entry) -> Iterator[DebateHappening]:
    """What a step of the journal tells people."""
    kind = CHUNKS.get(entry.event["type"]) if entry.to.startswith(REPLY) else None
    if kind is not None:
        speaker = entry.to.removeprefix(REPLY).partition("/")[0]
        yield DebateHappening(entry.seq, entry.at, kind, {"participantId": speaker, "text": entry.event["content"]})
    for one in entry.emitted:
        event = one["event"]
        known = one["from"] == "debate" and event["type"] in KINDS
        if known or (one["from"] == "" and event["type"] == "status"):
            facts = {key: value for key, value in event.items() if key != "type"}
            yield DebateHappening(entry.seq, entry.at, event["type"], facts)
