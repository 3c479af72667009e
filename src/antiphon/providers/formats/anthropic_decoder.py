"""Reading the events of Anthropic's Messages API."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from antiphon.errors import Code
from antiphon.messages import Usage
from antiphon.providers.base import (
    Delta,
    Done,
    Request,
    SignatureDelta,
    Stop,
    TextDelta,
    ThinkingDelta,
    ToolArgs,
    ToolStart,
    UsageDelta,
)
from antiphon.providers.errors import ProviderError
from antiphon.providers.formats.error_bodies import fault_error
from antiphon.providers.formats.truncation import ended_early, last_deltas
from antiphon.providers.http.sse import FrameDecoder
from antiphon.providers.usage import tokens_of_request
from antiphon.providers.wire import SHAPE_ERRORS, counted, misshapen, named, parse_frame, said
from antiphon.tokens import tokens_of_bytes

STOPS: Mapping[str, Stop] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "stop_sequence": "stop_sequence",
    "pause_turn": "pause",
}


class AnthropicDecoder:
    """Reads the events of one message; `message_stop` is the end, and nothing else is."""

    __slots__ = (
        "_calls", "_counted", "_frames", "_model", "_request", "_request_id", "_size", "_stop", "_usage", "finished",
    )  # fmt: skip

    def __init__(self, model: str, request: Request, request_id: str | None) -> None:
        self.finished = False
        self._frames = FrameDecoder()
        self._model = model
        self._request = request
        self._request_id = request_id
        self._calls: dict[int, str] = {}
        self._size = 0
        self._usage: dict[str, Any] = {}
        # The counts of the start are preliminary; those of `message_delta` count.
        self._counted = False
        self._stop: str | None = None

    def feed(self, chunk: bytes) -> Iterator[Delta]:
        """The deltas that these bytes complete."""
        for data in self._frames.feed(chunk):
            frame = parse_frame(data)
            try:
                kind = frame.get("type")
                if kind == "content_block_delta":
                    delta = frame["delta"]
                    if delta["type"] == "text_delta":
                        text = said(delta["text"])
                        if text:
                            self._size += len(text)
                            yield TextDelta(text)
                    else:
                        yield from self._other_delta(frame["index"], delta)
                else:
                    yield from self._event(kind, frame)
            except SHAPE_ERRORS as error:
                raise misshapen(data) from error
            if self.finished:
                return

    def end(self) -> Iterator[Delta]:
        """A body that ends before `message_stop` was cut."""
        yield from last_deltas(self.feed, self._cut)
        if not self.finished:
            raise self._cut()

    def _cut(self) -> ProviderError:
        return ended_early(self._frames, "message_stop", self._request_id)

    def _other_delta(self, index: int, delta: dict[str, Any]) -> Iterator[Delta]:
        match delta["type"]:
            case "thinking_delta" if thought := said(delta["thinking"]):
                self._size += len(thought)
                yield ThinkingDelta(thought)
            case "signature_delta" if signature := said(delta["signature"]):
                yield SignatureDelta(signature)
            case "input_json_delta" if index in self._calls and (piece := said(delta["partial_json"])):
                self._size += len(piece)
                yield ToolArgs(self._calls[index], piece)

    def _event(self, kind: str | None, frame: dict[str, Any]) -> Iterator[Delta]:
        match kind:
            case "content_block_start":
                yield from self._block(frame["index"], frame["content_block"])
            case "message_start":
                message = frame["message"]
                self._model = said(message.get("model") or self._model)
                self._add(message.get("usage"))
                yield self._count()
            case "message_delta":
                self._stop = said(frame["delta"].get("stop_reason") or self._stop or "")
                self._add(frame.get("usage"))
                self._counted = bool(frame.get("usage"))
                if self._stop == "refusal":
                    yield self._count()
                    raise ProviderError(Code.REFUSED, _refusal(frame["delta"]), request_id=self._request_id)
            case "message_stop":
                self.finished = True
                yield self._count()
                yield Done(STOPS.get(self._stop or "", "end"), self._request_id)
            case "error":
                raise fault_error(frame, request_id=self._request_id)

    def _block(self, index: int, block: dict[str, Any]) -> Iterator[Delta]:
        match block["type"]:
            case "tool_use":
                id = self._calls[index] = named(block["id"])
                yield ToolStart(id, named(block["name"]))
                # Proxies that do not stream arguments put them here whole.
                if block.get("input"):
                    yield ToolArgs(id, json.dumps(block["input"]))
            case "redacted_thinking":
                yield SignatureDelta(said(block["data"]), redacted=True)
            case "text" if block.get("text"):
                yield TextDelta(said(block["text"]))
            case "thinking" if block.get("thinking"):
                yield ThinkingDelta(said(block["thinking"]))

    def _add(self, reported: dict[str, Any] | None) -> None:
        self._usage |= {key: value for key, value in (reported or {}).items() if value is not None}

    def _count(self) -> UsageDelta:
        told = self._usage
        read = counted(told.get("cache_read_input_tokens"))
        written = counted(told.get("cache_creation_input_tokens"))
        output = counted(told.get("output_tokens"))
        usage = Usage(
            input=(counted(told.get("input_tokens")) + read + written) or tokens_of_request(self._request),
            output=output if self._counted else max(output, tokens_of_bytes(self._size)),
            cached_read=read,
            cached_write=written,
            reasoning=counted((told.get("output_tokens_details") or {}).get("thinking_tokens")),
            estimated=not (self._counted and "input_tokens" in told),
        )
        return UsageDelta(usage, self._model, told.get("service_tier"))


def _refusal(delta: dict[str, Any]) -> str:
    details = delta.get("stop_details") or {}
    return f"the model refused: {details.get('explanation') or details.get('category') or 'no reason given'}"
