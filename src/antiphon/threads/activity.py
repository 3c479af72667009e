"""Activities of a thread, read from its journal.

1. Words of models are `text` and `thinking`, wherever in the tree they are; so are the progress and the end of a tool's
   call, `tool_progress` and `tool_ended`.
2. An event that a thread or its content emits is an activity of that name.
3. A reply of a chat also has activities for its tool calls, its usage and its end; runs and debates emit those.

A step may have several activities. Each comes from a part of the step, and its cursor names that part: 0 is the letter,
1 the first event that was emitted, and so on; the cursor of the last activity is that of the step.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.runtime.histories import format_cursor
from antiphon.runtime.records import Entry
from antiphon.threads.machine.thread import KINDS

Json = Mapping[str, Any]
Event = tuple[str, Json]
WORDS: Mapping[str, str] = {"TEXT_CHUNK": "text", "THINKING_CHUNK": "thinking"}
CUT = "length"  # a reply ended at its token limit
CHAT_REPLY = ["chat", "reply"]
# Activities about a request to a person: that it was opened, and that it is closed.
REQUESTS = (
    "permission_asked", "permission_answered", "agent_waits", "agent_goes_on", "limit_reached", "limit_answered",
    "results_awaited",
)  # fmt: skip
AGENTS = ["run", "executeAgent"]
DEBATER = "reply-"
# Actors whose emitted events are activities: the thread itself, and its content, whatever its kind.
SENDERS = ("", *KINDS)
# The seed's name of the orchestrator, which stands before each line of a run.
RUN_PREFIX = "[rawko] "


@dataclass(frozen=True, slots=True)
class Activity:
    """One event at a step of the journal; `speaker` is the agent or debater it is about, if any.

    `offset` is the number of characters of the same kind that are before the words of a reply.
    """

    seq: int
    at: int
    kind: str
    facts: Json = field(default_factory=dict)
    speaker: str | None = None
    cursor: str = ""  # the place after it, to follow the thread from
    offset: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the activity as JSON."""
        place = {"seq": self.seq, "cursor": self.cursor, "at": self.at}
        value = {**place, "kind": self.kind, "facts": dict(self.facts)}
        if self.offset is not None:
            value["offset"] = self.offset
        return {**value, "speaker": self.speaker} if self.speaker else value


def activities(entry: Entry, history: str = "", after: int = -1, offset: int | None = None) -> list[Activity]:
    """Return the activities of a step of the journal, those after a part of it; cursors need the id of the history.

    `offset` is that of the words of the step, if it has some.
    """
    parts = list(_parts(entry))
    last = len(parts) - 1
    seq = entry.seq
    return [
        Activity(
            seq,
            entry.at,
            kind,
            facts,
            speaker,
            format_cursor(history, seq, None if index == last else part),
            offset if part == 0 else None,
        )
        for index, (part, kind, facts, speaker) in enumerate(parts)
        if part > after
    ]


def _parts(entry: Entry) -> Iterator[tuple[int, str, Json, str | None]]:
    """Iterate over the parts of a step that are activities: number, kind, facts and speaker."""
    path = entry.to.split("/")
    event = _of_letter(path, entry.event)
    if event is not None:
        yield 0, *event, speaker_of(path)
    for part, emitted in enumerate(entry.emitted, 1):
        if emitted["from"] in SENDERS:
            kind, facts = _of_emitted(emitted["event"])
            if kind in REQUESTS:
                facts = _of_request(emitted["from"], facts)
            yield part, kind, facts, facts.get("agentId") or facts.get("participantId")


def speaker_of(path: Sequence[str]) -> str | None:
    """Return the agent or debater whose actor is at a path, or above it."""
    if path[:2] == AGENTS and len(path) > 2:
        return path[2]
    is_debater = path[0] == "debate" and len(path) > 1 and path[1].startswith(DEBATER)
    return path[1].removeprefix(DEBATER) if is_debater else None


def _of_letter(path: list[str], event: Json) -> Event | None:
    type = event["type"]
    if path[-1].startswith("call-") and path[-2:-1] == ["tools"]:
        if type == "xstate.stream.next":
            return "tool_progress", _tool_progress(path[-1], event)
        return "tool_ended", _tool_end(path[-1], event)
    if type in WORDS and (path[-1] == "reply" or path[-1].startswith(DEBATER)):
        return WORDS[type], {"text": event["content"]}
    if path == CHAT_REPLY:
        return _of_reply(event)
    is_cut = type == "COMPLETE" and event.get("stop") == CUT and speaker_of(path) is not None
    return ("reply_cut", {"stop": CUT}) if is_cut else None


def _of_reply(event: Json) -> Event | None:
    match event["type"]:
        case "TOOL_START":
            return "tool_called", {"id": event["toolId"], "name": event["toolName"], "input": event.get("input")}
        case "USAGE":
            return "usage", {"usage": event["usage"], "costUsd": event["costUsd"]}
        case "ERROR":
            return "retrying", {key: event.get(key) for key in ("code", "message", "recoverable", "retryAfterMs")}
        case "COMPLETE":
            keys = ("costUsd", "durationMs", "totalTokens", "usage", "stop")
            return "replied", {key: event.get(key) for key in keys}
    return None


def _tool_progress(call: str, event: Json) -> Json:
    """Return a report of a call: its number, a text, and maybe the fraction that is done."""
    return {"call": int(call.removeprefix("call-")), **event["data"]}


def _tool_end(call: str, event: Json) -> Json:
    """Return the end of a call: its number, whether it failed, and its result."""
    data = event.get("data")
    failed = event["type"] == "xstate.promise.reject" or (isinstance(data, Mapping) and bool(data.get("isError")))
    return {"call": int(call.removeprefix("call-")), "failed": failed, "result": data}


def _of_request(sender: str, facts: Json) -> Json:
    """Return the facts about a request, with its id, and with its address in the thread."""
    named = {"requestId" if key == "id" else key: value for key, value in facts.items()}
    if "address" not in facts:
        return named
    return {**named, "address": "/".join(part for part in (sender, facts["address"]) if part)}


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
