"""Chat completions: the reply of a thread as chunks, or as one object."""

from collections.abc import Iterable
from typing import Any

from antiphon.messages import Usage
from antiphon.runtime.encoding import encode
from antiphon.server.facades.openai.errors import error_body
from antiphon.server.facades.openai.turns import Json, TurnEnd, TurnEvent, TurnFailure, TurnText, TurnThought

DONE = b"data: [DONE]\n\n"


def usage_of(usage: Usage) -> dict[str, Any]:
    """Return a usage as chat completions have it."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def call_of(call: Json) -> dict[str, Any]:
    """Return a call that the client is to make."""
    function = {"name": call["name"], "arguments": call["arguments"]}
    return {"id": call["id"], "type": "function", "function": function}


def reply_parts(text: str, end: TurnEnd) -> list[dict[str, Any]]:
    """Return a reply as the client will send it back: its text, and its calls."""
    words = [{"type": "text", "text": text}] if text else []
    keys = ("id", "name", "arguments")
    return [*words, *({"type": "toolCall", **{key: call[key] for key in keys}} for call in end.calls)]


class CompletionWriter:
    """Writes the chunks of one completion."""

    def __init__(self, id: str, model: str, created: int, *, has_usage: bool) -> None:
        self._base = {"id": id, "object": "chat.completion.chunk", "created": created, "model": model}
        self._has_usage = has_usage

    def begin(self) -> bytes:
        """Return the first chunk."""
        return self._chunk({"role": "assistant", "content": "", "refusal": None})

    def write(self, event: TurnEvent) -> bytes:
        """Return the chunks of an event; an error in the middle is the last one, as OpenAI sends it."""
        match event:
            case TurnText(text):
                return self._chunk({"content": text})
            case TurnThought(text):
                return self._chunk({"reasoning_content": text, "reasoning": text})
            case TurnFailure(problem):
                return _data(error_body(problem))
            case TurnEnd(finish, calls, usage):
                return b"".join([*self._calls(calls), self._chunk({}, finish), *self._usage(usage), DONE])

    def _calls(self, calls: Iterable[Json]) -> Iterable[bytes]:
        for index, call in enumerate(calls):
            yield self._chunk({"tool_calls": [{"index": index, **call_of(call)}]})

    def _usage(self, usage: Usage) -> Iterable[bytes]:
        if self._has_usage:
            yield _data({**self._base, "choices": [], "usage": usage_of(usage)})

    def _chunk(self, delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data({**self._base, "choices": [choice], **({"usage": None} if self._has_usage else {})})


def _data(value: Any) -> bytes:
    return f"data: {encode(value)}\n\n".encode()


def completion(id: str, model: str, created: int, text: str, thought: str, end: TurnEnd) -> dict[str, Any]:
    """Return a whole completion."""
    message: dict[str, Any] = {"role": "assistant", "content": text or None, "refusal": None}
    if thought:
        message |= {"reasoning_content": thought, "reasoning": thought}
    if end.calls:
        message["tool_calls"] = [call_of(call) for call in end.calls]
    elif not text:
        message["content"] = ""
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": end.finish}
    return {
        "id": id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [choice],
        "usage": usage_of(end.usage),
    }
