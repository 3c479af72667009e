"""Activities of a thread, read from its journal.

1. Words of models are `text` and `thinking`, wherever in the tree they are; so are the progress and the end of a tool's
   call, `tool_progress` and `tool_ended`.
2. An event that a thread or its content emits is an activity of that name.
3. A reply of a chat also has activities for its tool calls, its usage and its end; runs and debates emit those.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.runtime.records import Entry
from antiphon.threads.machine.thread import KINDS

Json = Mapping[str, Any]
Event = tuple[str, Json]
WORDS: Mapping[str, str] = {"TEXT_CHUNK": "text", "THINKING_CHUNK": "thinking"}
CHAT_REPLY = ["chat", "reply"]
AGENTS = ["run", "executeAgent"]
DEBATER = "reply-"
# Actors whose emitted events are activities: the thread itself, and its content, whatever its kind.
SENDERS = ("", *KINDS)
# The seed's name of the orchestrator, which stands before each line of a run.
RUN_PREFIX = "[rawko] "


@dataclass(frozen=True, slots=True)
class Activity:
    """One event at a step of the journal; `speaker` is the agent or debater it is about, if any."""

    seq: int
    at: int
    kind: str
    facts: Json = field(default_factory=dict)
    speaker: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the activity as JSON."""
        value = {"seq": self.seq, "at": self.at, "kind": self.kind, "facts": dict(self.facts)}
        return {**value, "speaker": self.speaker} if self.speaker else value


def activities(entry: Entry) -> Iterator[Activity]:
    """Read the activities of a step of the journal."""
    path = entry.to.split("/")
    speaker = _speaker(path)
    for kind, facts in _of_letter(path, entry.event):
        yield Activity(entry.seq, entry.at, kind, facts, speaker)
    for emitted in entry.emitted:
        if emitted["from"] in SENDERS:
            kind, facts = _of_emitted(emitted["event"])
            subject = facts.get("agentId") or facts.get("participantId")
            yield Activity(entry.seq, entry.at, kind, facts, subject)


def _speaker(path: Sequence[str]) -> str | None:
    """Return the agent or debater whose actor is at a path, or above it."""
    if path[:2] == AGENTS and len(path) > 2:
        return path[2]
    is_debater = path[0] == "debate" and len(path) > 1 and path[1].startswith(DEBATER)
    return path[1].removeprefix(DEBATER) if is_debater else None


def _of_letter(path: list[str], event: Json) -> Iterator[Event]:
    type = event["type"]
    if path[-1].startswith("call-") and path[-2:-1] == ["tools"]:
        if type == "xstate.stream.next":
            yield "tool_progress", _tool_progress(path[-1], event)
        else:
            yield "tool_ended", _tool_end(path[-1], event)
    elif type in WORDS and (path[-1] == "reply" or path[-1].startswith(DEBATER)):
        yield WORDS[type], {"text": event["content"]}
    elif path == CHAT_REPLY:
        yield from _of_reply(event)


def _of_reply(event: Json) -> Iterator[Event]:
    match event["type"]:
        case "TOOL_START":
            yield "tool_called", {"id": event["toolId"], "name": event["toolName"], "input": event.get("input")}
        case "USAGE":
            yield "usage", {"usage": event["usage"], "costUsd": event["costUsd"]}
        case "ERROR":
            yield "retrying", {key: event.get(key) for key in ("code", "message", "recoverable", "retryAfterMs")}
        case "COMPLETE":
            keys = ("costUsd", "durationMs", "totalTokens", "usage", "stop")
            yield "replied", {key: event.get(key) for key in keys}


def _tool_progress(call: str, event: Json) -> Json:
    """Return a report of a call: its number, a text, and maybe the fraction that is done."""
    return {"call": int(call.removeprefix("call-")), **event["data"]}


def _tool_end(call: str, event: Json) -> Json:
    """Return the end of a call: its number, whether it failed, and its result."""
    data = event.get("data")
    failed = event["type"] == "xstate.promise.reject" or (isinstance(data, Mapping) and bool(data.get("isError")))
    return {"call": int(call.removeprefix("call-")), "failed": failed, "result": data}


def _of_emitted(event: Json) -> Event:
    facts = {key: value for key, value in event.items() if key != "type"}
    if "toolCall" in facts:
        call = facts.pop("toolCall")
        facts = {"id": call["id"], "name": call["name"], "input": parse_input(call.get("arguments")), **facts}
    if isinstance(facts.get("text"), str):
        facts["text"] = facts["text"].removeprefix(RUN_PREFIX)
    return event["type"], facts


def parse_input(arguments: Any) -> Any:
    """Parse the arguments of a call; return them unchanged if they are not JSON."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return arguments
