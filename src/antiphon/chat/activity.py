"""What happens in a thread, as whoever shows it needs it: read from the journal, and from nothing else."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from antiphon.runtime.records import Entry

Kind = Literal[
    "text", "thinking", "tool_call", "tool_ended", "usage", "retrying", "replied", "failed",
    "permission", "status", "did",
]  # fmt: skip
REPLY, TOOLS = "chat/reply", "chat/tools"


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened, at a step of the journal."""

    seq: int
    at: int
    kind: Kind
    facts: Mapping[str, Any] = field(default_factory=dict)


def happenings(entry: Entry) -> Iterator[Happening]:
    """What a step of the journal tells people."""

    def told(kind: Kind, facts: Mapping[str, Any]) -> Happening:
        return Happening(entry.seq, entry.at, kind, facts)

    event = entry.event
    if entry.to == REPLY:
        yield from (told(kind, facts) for kind, facts in _of_reply(event))
    elif entry.to.startswith(f"{TOOLS}/call-"):
        yield told("tool_ended", tool_end(entry.to.rpartition("/")[2], event))
    for one in entry.emitted:
        yield from (told(kind, facts) for kind, facts in _of_output(one["from"], one["event"]))


def _of_reply(event: Mapping[str, Any]) -> Iterator[tuple[Kind, Mapping[str, Any]]]:
    match event["type"]:
        case "TEXT_CHUNK":
            yield "text", {"text": event["content"]}
        case "THINKING_CHUNK":
            yield "thinking", {"text": event["content"]}
        case "TOOL_START":
            yield "tool_call", {"id": event["toolId"], "name": event["toolName"], "input": event.get("input")}
        case "USAGE":
            yield "usage", {"usage": event["usage"], "costUsd": event["costUsd"]}
        case "ERROR":
            yield "retrying", {key: event.get(key) for key in ("code", "message", "recoverable", "retryAfterMs")}
        case "COMPLETE":
            told = ("costUsd", "durationMs", "totalTokens", "usage", "stop")
            yield "replied", {key: event.get(key) for key in told}


def tool_end(call: str, event: Mapping[str, Any]) -> dict[str, Any]:
    """How a call ended: its number, whether it failed, and what it gave."""
    data = event.get("data")
    failed = event["type"] == "xstate.promise.reject" or (isinstance(data, Mapping) and bool(data.get("isError")))
    return {"call": int(call.removeprefix("call-")), "failed": failed, "result": data}


def _of_output(sender: str, event: Mapping[str, Any]) -> Iterator[tuple[Kind, Mapping[str, Any]]]:
    facts = {key: value for key, value in event.items() if key != "type"}
    match (sender, event["type"]):
        case ("", "status"):
            yield "status", facts
        case ("chat", "permission_asked"):
            yield "permission", facts
        case ("chat", "reply_failed"):
            yield "failed", facts
        case ("chat", name):
            yield "did", {"event": name, **facts}
