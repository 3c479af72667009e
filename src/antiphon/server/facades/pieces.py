"""Pieces of a reply, read from the activities of a thread: words, tool calls, their results, and notes.

1. A piece belongs to a message, and the id of a message is that of its node in the tree of the chat. A node is made
   when its reply is complete, so the id of the one in progress is the next that the tree will give (`NodeIds`).
2. A run or a debate has no tree: there a message is named by the turn of the debater, or by the agent and the step of
   the journal at which the message began.
3. Everything here is a function of the journal: who reads it again gets the same pieces with the same ids.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from antiphon.threads import Activity
from antiphon.threads.requests import OpenRequest

Json = Mapping[str, Any]
# Ends of a reply of a chat, each with the head of its branch afterwards.
REPLY_ENDS = ("reply_completed", "reply_failed", "reply_cancelled")
# Activities that a client is told of as they are.
NOTES = ("plan_changed", "verdict", "round_recorded", "interjection", "limit_warning", "tool_progress", "fell_back")


@dataclass(frozen=True, slots=True)
class WordDelta:
    """Words of a message, spoken or thought."""

    message: str
    kind: Literal["text", "thinking"]
    text: str
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a tool, with its whole input."""

    message: str
    id: str
    name: str
    input: Any
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of a call; one that was denied has none."""

    message: str
    id: str
    text: str
    failed: bool = False
    denied: bool = False
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class MessageEnded:
    """The end of a message."""

    message: str
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The end of the turn of an agent or a debater, or of all of them."""

    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """An activity that has no form of its own in the protocols."""

    name: str
    facts: Json


@dataclass(frozen=True, slots=True)
class StatusReached:
    """A status that the thread has reached, and what it has spent."""

    status: str
    cost_usd: float


Piece = WordDelta | Called | Answered | MessageEnded | TurnEnded | Notice | StatusReached


class NodeIds:
    """The ids of the messages that a chat appends: those that its tree has, then those that it will give."""

    def __init__(self, nodes: Sequence[str] = (), next_number: int = 1, taken: Collection[str] = ()) -> None:
        self._nodes = list(nodes)
        self._next = next_number
        self._taken = taken
        self.is_exact = True  # every message has got the id that it was announced with

    @property
    def current(self) -> str:
        """The id of the message that is appended next."""
        if self._nodes:
            return self._nodes[0]
        while f"m{self._next}" in self._taken:
            self._next += 1
        return f"m{self._next}"

    def append(self, head: str | None) -> None:
        """Note the head of the branch after a message was appended, or was not."""
        if head in self._nodes:
            self.is_exact = self.is_exact and head == self._nodes[0]
            del self._nodes[: self._nodes.index(head) + 1]
        elif head is not None and head.startswith("m") and head[1:].isdecimal() and int(head[1:]) >= self._next:
            self.is_exact = self.is_exact and head == self.current
            self._nodes.clear()
            self._next = int(head[1:]) + 1


def node_ids(chat: Json | None) -> NodeIds:
    """Return the ids of the messages after the last question of a chat."""
    if chat is None:
        return NodeIds()
    messages = chat["messages"]
    branch = (chat["reply"] or {}).get("branch") or chat["branch"]
    nodes: list[str] = []
    node: str | None = chat["branches"][branch]["head"]
    while node is not None and messages[node]["role"] != "user":
        nodes.insert(0, node)
        node = messages[node]["parent"]
    return NodeIds(nodes, chat["nextMessage"], messages)


@dataclass(slots=True)
class _Round:
    """The calls of a reply, in their order, and those that have a result."""

    calls: list[str] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)


class PieceReader:
    """Reads the pieces of a thread from its activities."""

    def __init__(self, kind: str, ids: NodeIds) -> None:
        self.ids = ids
        self.tokens: dict[str, int] = {}  # tokens of the replies, by the names of a usage
        self.error: Json | None = None  # the reason why the thread has failed
        self.result: Json | None = None  # the result of a run or a debate
        self.run: str | None = None  # the id of the run of the thread
        self._is_chat = kind == "chat"
        self._turns: dict[str, str] = {}  # the turns of debaters
        self._messages: dict[str | None, str] = {}  # the messages in progress, by speaker
        self._rounds: dict[str | None, _Round] = {}

    def read(self, activity: Activity) -> Iterator[Piece]:
        """Iterate over the pieces of an activity."""
        facts = activity.facts
        match activity.kind:
            case "text" | "thinking" as kind:
                if facts["text"]:
                    yield WordDelta(self._message(activity), kind, facts["text"], activity.speaker)
            case "tool_called":
                self._round(activity).calls.append(facts["id"])
                message = self._message(activity)
                yield Called(message, facts["id"], facts["name"], facts["input"], activity.speaker)
            case "tool_ended" | "tool_answered" | "call_refused" | "tools_answered":
                yield from self._results(activity)
            case "replied":
                self._add_usage(facts["usage"])
            case kind if kind in REPLY_ENDS and self._is_chat:
                yield MessageEnded(self._message(activity), activity.speaker)
                self._messages.clear()
                self.ids.append(facts.get("head"))
            case "agent_message":
                yield from self._end_message(activity.speaker)
                self._round(activity).calls.clear()
            case _:
                yield from self._read_progress(activity)

    def _read_progress(self, activity: Activity) -> Iterator[Piece]:
        facts = activity.facts
        match activity.kind:
            case "turn_started":
                self._turns[facts["participantId"]] = facts["requestId"]
            case "turn_ended":
                yield from self._end_message(activity.speaker)
                yield TurnEnded(activity.speaker)
            case "agent_completed" | "agent_failed":
                for speaker in list(self._messages):
                    yield from self._end_message(speaker)
                yield TurnEnded()
            case "run_ended" | "result":
                self._end(activity)
            case "status":
                self.run = facts["runId"]
                self.error = (facts["resultInfo"] or {}).get("error")
                yield StatusReached(facts["status"], facts["cost"])
            case name if name in NOTES:
                yield Notice(name, facts)

    def _end(self, activity: Activity) -> None:
        facts = activity.facts
        if activity.kind == "run_ended":
            self._add_usage(facts["usage"])
            keys = ("success", "reason", "summary", "plan", "iterations", "costUsd")
            self.result = {key: facts.get(key) for key in keys}
        else:
            self.result = {key: facts["result"].get(key) for key in ("topic", "outcome", "verdict")}

    def _message(self, activity: Activity) -> str:
        """Return the id of the message that a speaker is at."""
        if self._is_chat:
            return self.ids.current
        speaker = activity.speaker
        if speaker not in self._messages:
            turn = self._turns.get(speaker or "")
            self._messages[speaker] = turn or f"{speaker or 'message'}-{activity.seq}"
        return self._messages[speaker]

    def _end_message(self, speaker: str | None) -> Iterator[Piece]:
        message = self._messages.pop(speaker, None)
        if message is not None:
            yield MessageEnded(message, speaker)

    def _round(self, activity: Activity) -> _Round:
        return self._rounds.setdefault(activity.speaker, _Round())

    def _results(self, activity: Activity) -> Iterator[Piece]:
        facts = activity.facts
        calls = self._round(activity)
        if activity.kind == "tools_answered":  # calls without a result were denied
            for id in calls.calls:
                if id not in calls.answered:
                    yield self._answer(activity, id, "This call was denied.", denied=True)
            calls.calls.clear()
            self.ids.append(facts.get("head"))
            return
        if activity.kind == "tool_ended":
            result = facts["result"] if isinstance(facts["result"], Mapping) else {}
            known = calls.calls[facts["call"]] if facts["call"] < len(calls.calls) else f"call-{facts['call']}"
            id = result.get("callId") or known
            text = result_text(facts["result"])
        elif activity.kind == "call_refused":
            id = facts["id"]
            text = facts["message"]
        else:
            id = facts["toolResult"]["id"]
            text = "This call failed or was denied." if facts["toolResult"].get("isError") else ""
        if id not in calls.answered:
            failed = facts.get("failed", True) if activity.kind != "tool_answered" else bool(text)
            yield self._answer(activity, id, text, failed=failed)

    def _answer(
        self, activity: Activity, id: str, text: str, *, failed: bool = False, denied: bool = False
    ) -> Answered:
        self._round(activity).answered.add(id)
        node = self.ids.current if self._is_chat else "result"
        return Answered(result_id(node, id), id, text, failed, denied, activity.speaker)

    def _add_usage(self, usage: Json | None) -> None:
        for name, number in (usage or {}).items():
            if isinstance(number, int) and not isinstance(number, bool):
                self.tokens[name] = self.tokens.get(name, 0) + number


def asked_calls(request: OpenRequest) -> list[Json]:
    """Return the calls of a request that need permission."""
    return [call for call in request.calls if call["decision"] == "ask"]


def result_id(node: str, call: str) -> str:
    """Return the id of the message with the result of a call; a node may have the results of several."""
    return f"{node}:{call}"


def result_text(result: Any) -> str:
    """Return the result of a tool as a text."""
    if isinstance(result, Mapping) and isinstance(result.get("parts"), list):
        texts = [part.get("text") for part in result["parts"]]
        if all(isinstance(text, str) for text in texts):
            return "\n".join(texts)
    if isinstance(result, Mapping) and isinstance(result.get("message"), str):
        return str(result["message"])
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
