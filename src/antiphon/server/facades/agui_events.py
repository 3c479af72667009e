"""AG-UI events of the pieces of a reply: each start has its end, and one event is the last."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from antiphon.server.facades.pieces import (
    Answered,
    Called,
    MessageEnded,
    Notice,
    Piece,
    StatusReached,
    TurnEnded,
    WordDelta,
    asked_calls,
    result_id,
    result_text,
)
from antiphon.threads.requests import PERMISSION, OpenRequest

Json = Mapping[str, Any]
Event = dict[str, Any]
PROTOCOL = "1.0"
CUSTOM = "antiphon."
TOKENS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "reasoning": "reasoningTokens",
    "cachedRead": "cachedInputTokens",
    "cachedWrite": "cacheWriteInputTokens",
}
DECISION_SCHEMA: Json = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["approved"],
}


class AguiWriter:
    """Writes the events of one run; it knows what is open, and closes it."""

    def __init__(self, thread: str, run: str) -> None:
        self._names = {"threadId": thread, "runId": run}
        self._texts: dict[str, str | None] = {}  # open text messages, with their speakers
        self._thoughts: dict[str, str] = {}  # open reasoning messages, by their text message
        self._number_of_thoughts: dict[str, int] = {}
        self._steps: list[str] = []

    def start(self, parent: str | None = None) -> Event:
        """Return the first event."""
        more = {"parentRunId": parent} if parent else {}
        return {"type": "RUN_STARTED", **self._names, "protocolVersion": PROTOCOL, **more}

    def write(self, piece: Piece) -> Iterator[Event]:
        """Iterate over the events of a piece."""
        match piece:
            case WordDelta():
                yield from self._open_step(piece.speaker)
                yield from self._write_words(piece)
            case Called():
                yield from self._open_step(piece.speaker)
                yield from self._end_thought(piece.message)
                yield from _call_events(piece)
            case Answered():
                yield {
                    "type": "TOOL_CALL_RESULT",
                    "messageId": piece.message,
                    "toolCallId": piece.id,
                    "content": piece.text,
                    "role": "tool",
                }
            case MessageEnded():
                yield from self._end_message(piece.message)
            case TurnEnded():
                yield from self._end_turn(piece.speaker)
            case StatusReached():
                facts = {"/status": piece.status, "/costUsd": piece.cost_usd}
                delta = [{"op": "add", "path": path, "value": value} for path, value in facts.items()]
                yield {"type": "STATE_DELTA", "delta": delta}
            case Notice():
                yield {"type": "CUSTOM", "name": CUSTOM + piece.name, "value": dict(piece.facts)}

    def finish(self, outcome: Json, usage: Sequence[Json] = (), result: Any = None) -> Iterator[Event]:
        """Close what is open, and end the run."""
        yield from self._close()
        more: Event = {} if result is None else {"result": result}
        if usage:
            more["usage"] = list(usage)
        yield {"type": "RUN_FINISHED", **self._names, "outcome": outcome, **more}

    def fail(self, message: str, code: str | None = None, usage: Sequence[Json] = ()) -> Iterator[Event]:
        """Close what is open, and end the run with an error."""
        yield from self._close()
        more: Event = {"code": code} if code else {}
        if usage:
            more["usage"] = list(usage)
        yield {"type": "RUN_ERROR", "message": message, **more}

    def _open_step(self, speaker: str | None) -> Iterator[Event]:
        if speaker is not None and speaker not in self._steps:
            self._steps.append(speaker)
            yield {"type": "STEP_STARTED", "stepName": speaker}

    def _write_words(self, words: WordDelta) -> Iterator[Event]:
        if words.kind == "thinking":
            if words.message not in self._thoughts:
                number = self._number_of_thoughts.get(words.message, 0) + 1
                self._number_of_thoughts[words.message] = number
                id = f"{words.message}:thinking-{number}"
                self._thoughts[words.message] = id
                yield {"type": "REASONING_START", "messageId": id}
                yield {"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"}
            id = self._thoughts[words.message]
            yield {"type": "REASONING_MESSAGE_CONTENT", "messageId": id, "delta": words.text}
            return
        yield from self._end_thought(words.message)
        if words.message not in self._texts:
            self._texts[words.message] = words.speaker
            name = {"name": words.speaker} if words.speaker else {}
            yield {"type": "TEXT_MESSAGE_START", "messageId": words.message, "role": "assistant", **name}
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": words.message, "delta": words.text}

    def _end_thought(self, message: str) -> Iterator[Event]:
        id = self._thoughts.pop(message, None)
        if id is not None:
            yield {"type": "REASONING_MESSAGE_END", "messageId": id}
            yield {"type": "REASONING_END", "messageId": id}

    def _end_message(self, message: str) -> Iterator[Event]:
        yield from self._end_thought(message)
        if message in self._texts:
            del self._texts[message]
            yield {"type": "TEXT_MESSAGE_END", "messageId": message}

    def _end_turn(self, speaker: str | None) -> Iterator[Event]:
        for message in [id for id, other in self._texts.items() if speaker in (None, other)]:
            yield from self._end_message(message)
        for step in [name for name in self._steps if speaker in (None, name)]:
            self._steps.remove(step)
            yield {"type": "STEP_FINISHED", "stepName": step}

    def _close(self) -> Iterator[Event]:
        for message in [*self._thoughts, *self._texts]:
            yield from self._end_message(message)
        yield from self._end_turn(None)


def _call_events(call: Called) -> Iterator[Event]:
    """Iterate over the events of a call; its input is known as a whole."""
    start = {"type": "TOOL_CALL_START", "toolCallId": call.id, "toolCallName": call.name}
    yield {**start, "parentMessageId": call.message}
    text = call.input if isinstance(call.input, str) else json.dumps(call.input, ensure_ascii=False)
    if call.input is not None and text:
        yield {"type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": text}
    yield {"type": "TOOL_CALL_END", "toolCallId": call.id}


def interrupt_of(request: OpenRequest) -> Json:
    """Return the interrupt for an open request of a thread."""
    calls = asked_calls(request)
    interrupt: Event = {
        "id": request.id,
        "reason": "tool_approval" if request.reason == PERMISSION else request.reason,
        "message": _message(request),
        "responseSchema": _schema(request),
        "metadata": {"request": request.to_json()},
    }
    return {**interrupt, "toolCallId": calls[0]["id"]} if len(calls) == 1 else interrupt


def _message(request: OpenRequest) -> str:
    if request.calls:
        return "Allow " + ", ".join(call["text"] for call in asked_calls(request)) + "?"
    return request.text or f"The thread waits: {request.reason}."


def _schema(request: OpenRequest) -> Json:
    if request.limit is not None:
        properties = {**DECISION_SCHEMA["properties"], "limit": {"type": "number"}}
        return {**DECISION_SCHEMA, "properties": properties}
    if request.reason == PERMISSION and request.address:
        properties = {**DECISION_SCHEMA["properties"], "scope": {"enum": request.scopes}}
        return {**DECISION_SCHEMA, "properties": properties}
    return {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def usage_of(tokens: Mapping[str, int], model: str | None) -> list[Json]:
    """Return the usage of a run."""
    if not tokens:
        return []
    provider, colon, name = (model or "").partition(":")
    names = {"provider": provider, "model": name} if colon else {}
    return [{**names, **{TOKENS[key]: number for key, number in tokens.items() if key in TOKENS}}]


def history_of(messages: Iterable[Json]) -> list[Json]:
    """Return the messages of a chat as messages of AG-UI."""
    history: list[Json] = []
    for message in messages:
        history += _messages_of(message)
    return history


def _messages_of(message: Json) -> Iterator[Json]:
    id = message["id"]
    parts = message["parts"]
    texts = "".join(part["text"] for part in parts if part["type"] == "text")
    if message["role"] == "tool":
        for part in parts:
            name = result_id(id, part["callId"])
            yield {"id": name, "role": "tool", "toolCallId": part["callId"], "content": result_text(part)}
        return
    thoughts = [part["text"] for part in parts if part["type"] == "thinking"]
    for number, thought in enumerate(thoughts, 1):
        yield {"id": f"{id}:thinking-{number}", "role": "reasoning", "content": thought}
    calls = [
        {"id": part["id"], "type": "function", "function": {"name": part["name"], "arguments": part["arguments"]}}
        for part in parts
        if part["type"] == "toolCall"
    ]
    yield {"id": id, "role": message["role"], "content": texts, **({"toolCalls": calls} if calls else {})}
