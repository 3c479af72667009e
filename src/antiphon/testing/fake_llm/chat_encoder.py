"""Server side of chat completions in three dialects."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from antiphon.testing.fake_llm.encoder import KINDS, frame
from antiphon.testing.fake_llm.scenarios import SIGNATURE, TOOL, Ending

Dialect = Literal["openai", "mistral", "compatible"]
USAGE = {
    "prompt_tokens": 1032,
    "completion_tokens": 42,
    "total_tokens": 1074,
    "prompt_tokens_details": {"cached_tokens": 1000},
    "completion_tokens_details": {"reasoning_tokens": 8},
}


class ChatEncoder:
    """Encodes the chunks of a chat completion."""

    def __init__(self, model: str, dialect: Dialect, *, usage_requested: bool) -> None:
        self._model = model
        self._dialect = dialect
        self._usage_requested = usage_requested
        self._calls = -1

    def begin(self) -> Iterator[bytes]:
        """Yield the role."""
        yield self._chunk({"role": "assistant", "content": ""})

    def thoughts(self, pieces: Sequence[str]) -> Iterator[bytes]:
        """Yield reasoning: an unsigned field under one of two names, or with Mistral signed content."""
        for piece in pieces:
            match self._dialect:
                case "openai":
                    yield self._chunk({"reasoning_content": piece})
                case "compatible":
                    yield self._chunk({"reasoning": piece})
                case "mistral":
                    thought = {"type": "thinking", "thinking": [{"type": "text", "text": piece}]}
                    yield self._chunk({"content": [thought]})
        if self._dialect == "mistral":
            signed = {"type": "thinking", "thinking": [], "signature": SIGNATURE, "closed": True}
            yield self._chunk({"content": [signed]})

    def words(self, text: str) -> Iterator[bytes]:
        """Yield content."""
        yield self._chunk({"content": text})

    def call(self, id: str, pieces: Sequence[str], name: str = TOOL) -> Iterator[bytes]:
        """Yield the name, then arguments with the index only; with Mistral every piece repeats all fields."""
        self._calls += 1
        index = {"index": self._calls}
        if self._dialect == "mistral":
            for piece in pieces:
                function = {"name": name, "arguments": piece}
                yield self._tool({**index, "id": f"call{id:0>5}", "function": function})
            return
        yield self._tool({**index, "id": f"call_{id}", "type": "function", "function": {"name": name, "arguments": ""}})
        for piece in pieces:
            yield self._tool({**index, "function": {"arguments": piece}})

    def end(self, ending: Ending, *, usage: bool) -> Iterator[bytes]:
        """Yield the finish reason, the token counts (with Mistral in the same chunk) and the end."""
        reason = {"end": "stop", "tool_calls": "tool_calls", "length": "length"}[ending]
        if self._dialect == "mistral":
            yield self._chunk({"content": ""}, reason, **({"usage": USAGE} if usage else {}))
        else:
            yield self._chunk({}, reason)
            if usage and self._usage_requested:
                yield frame({**self._head(), "choices": [], "usage": USAGE})
        yield frame("[DONE]")

    def overload(self) -> bytes:
        """Return an error object instead of a chunk."""
        if self._dialect == "mistral":
            return frame({"object": "error", "message": "Overloaded", "type": "server_error", "code": "3505"})
        error = {"message": "The server is overloaded", "type": "server_error", "code": "overloaded", "param": None}
        return frame({"error": error})

    def refusal(self) -> Iterator[bytes]:
        """Yield the finish reason of the content filter."""
        yield self._chunk({}, "content_filter")
        yield frame("[DONE]")

    def unknown(self) -> bytes:
        """Return a comment, a named event and a chunk with unknown fields."""
        return b": processing\n\n" + frame({"object": "mood", "mood": "fine"}, "mood") + self._chunk({"light": 1})

    def ping(self) -> bytes:
        """Return a comment."""
        return b": ping\n\n"

    def failure(self, status: int, message: str) -> Any:
        """Return an error object, with Mistral without a wrapper."""
        kind = KINDS.get(status, ("server_error", ""))[0]
        error = {"message": message, "type": kind, "code": None, "param": None}
        return {"object": "error", **error} if self._dialect == "mistral" else {"error": error}

    def _head(self) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": self._model}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **fields: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return frame({**self._head(), "choices": [choice], **fields})

    def _tool(self, call: dict[str, Any]) -> bytes:
        return self._chunk({"tool_calls": [call]})
