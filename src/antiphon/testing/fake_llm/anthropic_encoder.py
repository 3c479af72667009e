"""Server side of Anthropic's Messages API."""

from collections.abc import Iterator, Sequence
from typing import Any

from antiphon.testing.fake_llm.encoder import KINDS, frame
from antiphon.testing.fake_llm.scenarios import SIGNATURE, TOOL, Ending


class AnthropicEncoder:
    """Encodes typed events with content blocks."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._index = -1
        self._open = False

    def begin(self) -> Iterator[bytes]:
        """Yield the message without content."""
        usage = {"input_tokens": 25, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 1000}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": self._model, "content": []}
        yield self._event("message_start", message=message | {"usage": usage | {"output_tokens": 1}})
        yield self.ping()

    def thoughts(self, pieces: Sequence[str]) -> Iterator[bytes]:
        """Yield a thinking block that ends with its signature."""
        yield self._start({"type": "thinking", "thinking": "", "signature": ""})
        for piece in pieces:
            yield self._delta({"type": "thinking_delta", "thinking": piece})
        yield self._delta({"type": "signature_delta", "signature": SIGNATURE})
        yield self._stop()

    def words(self, text: str) -> Iterator[bytes]:
        """Yield text, in a block that is opened with the first text."""
        if not self._open:
            yield self._start({"type": "text", "text": ""})
            self._open = True
        yield self._delta({"type": "text_delta", "text": text})

    def call(self, id: str, pieces: Sequence[str], name: str = TOOL) -> Iterator[bytes]:
        """Yield a tool block whose first piece of arguments is empty, as in the real API."""
        if self._open:
            yield self._stop()
        yield self._start({"type": "tool_use", "id": f"toolu_{id}", "name": name, "input": {}})
        for piece in ("", *pieces):
            yield self._delta({"type": "input_json_delta", "partial_json": piece})
        yield self._stop()

    def end(self, ending: Ending, *, usage: bool) -> Iterator[bytes]:
        """Yield the stop reason, the token counts and the end."""
        if self._open:
            yield self._stop()
        reason = {"end": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}[ending]
        counts = {"output_tokens": 42, "output_tokens_details": {"thinking_tokens": 8}} if usage else {}
        yield self._event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=counts)
        yield self._event("message_stop")

    def overload(self) -> bytes:
        """Return the `error` event."""
        return self._event("error", error={"type": "overloaded_error", "message": "Overloaded"})

    def refusal(self) -> Iterator[bytes]:
        """Yield the `refusal` stop reason."""
        delta = {"stop_reason": "refusal", "stop_details": {"type": "refusal", "explanation": "not that"}}
        yield self._event("message_delta", delta=delta, usage={"output_tokens": 3})
        yield self._event("message_stop")

    def unknown(self) -> bytes:
        """Return an event, a block and a delta of unknown types."""
        start = self._event("content_block_start", index=90, content_block={"type": "hologram", "light": 1})
        delta = self._event("content_block_delta", index=90, delta={"type": "light_delta", "light": 2})
        return self._event("message_mood", mood="fine") + start + delta

    def ping(self) -> bytes:
        """Return the `ping` event."""
        return self._event("ping")

    def failure(self, status: int, message: str) -> Any:
        """Return an error object with a request id."""
        kind = KINDS.get(status, ("api_error", ""))[0]
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}

    def _event(self, kind: str, **fields: Any) -> bytes:
        return frame({"type": kind, **fields}, kind)

    def _start(self, block: dict[str, Any]) -> bytes:
        self._index += 1
        return self._event("content_block_start", index=self._index, content_block=block)

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return self._event("content_block_delta", index=self._index, delta=delta)

    def _stop(self) -> bytes:
        self._open = False
        return self._event("content_block_stop", index=self._index)
