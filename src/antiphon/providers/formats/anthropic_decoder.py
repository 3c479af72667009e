"""Decoder for the events of Anthropic's Messages API."""

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
from antiphon.providers.formats.error_bodies import frame_error
from antiphon.providers.formats.truncation import last_deltas, truncation_error
from antiphon.providers.http.sse import FrameDecoder
from antiphon.providers.usage import tokens_of_request
from antiphon.providers.wire import SHAPE_ERRORS, as_count, as_name, as_text, parse_frame, shape_error
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
    """Decodes the events of one message, which ends with `message_stop`."""

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
        # The counts of `message_start` are preliminary; those of `message_delta` are final.
        self._counted = False
        self._stop: str | None = None

    def feed(self, chunk: bytes) -> Iterator[Delta]:
        """Yield the deltas that these bytes complete."""
        for data in self._frames.feed(chunk):
            frame = parse_frame(data)
            try:
                kind = frame.get("type")
                if kind == "content_block_delta":
                    delta = frame["delta"]
                    if delta["type"] == "text_delta":
                        text = as_text(delta["text"])
                        if text:
                            self._size += len(text)
                            yield TextDelta(text)
                    else:
                        yield from self._other_delta(frame["index"], delta)
                else:
                    yield from self._event(kind, frame)
            except SHAPE_ERRORS as error:
                raise shape_error(data) from error
            if self.finished:
                return

    def end(self) -> Iterator[Delta]:
        """Raise an error if the body ended before `message_stop`."""
        yield from last_deltas(self.feed, self._truncated)
        if not self.finished:
            raise self._truncated()

    def _truncated(self) -> ProviderError:
        return truncation_error(self._frames, "message_stop", self._request_id)

    def _other_delta(self, index: int, delta: dict[str, Any]) -> Iterator[Delta]:
        match delta["type"]:
            case "thinking_delta" if thought := as_text(delta["thinking"]):
                self._size += len(thought)
                yield ThinkingDelta(thought)
            case "signature_delta" if signature := as_text(delta["signature"]):
                yield SignatureDelta(signature)
            case "input_json_delta" if index in self._calls and (piece := as_text(delta["partial_json"])):
                self._size += len(piece)
                yield ToolArgs(self._calls[index], piece)

    def _event(self, kind: str | None, frame: dict[str, Any]) -> Iterator[Delta]:
        match kind:
            case "content_block_start":
                yield from self._block(frame["index"], frame["content_block"])
            case "message_start":
                message = frame["message"]
                self._model = as_text(message.get("model") or self._model)
                self._add(message.get("usage"))
                yield self._count()
            case "message_delta":
                self._stop = as_text(frame["delta"].get("stop_reason") or self._stop or "")
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
                raise frame_error(frame, request_id=self._request_id)

    def _block(self, index: int, block: dict[str, Any]) -> Iterator[Delta]:
        match block["type"]:
            case "tool_use":
                id = self._calls[index] = as_name(block["id"])
                yield ToolStart(id, as_name(block["name"]))
                # Proxies that do not stream arguments send them here.
                if block.get("input"):
                    yield ToolArgs(id, json.dumps(block["input"]))
            case "redacted_thinking":
                yield SignatureDelta(as_text(block["data"]), redacted=True)
            case "text" if block.get("text"):
                yield TextDelta(as_text(block["text"]))
            case "thinking" if block.get("thinking"):
                yield ThinkingDelta(as_text(block["thinking"]))

    def _add(self, reported: dict[str, Any] | None) -> None:
        self._usage |= {key: value for key, value in (reported or {}).items() if value is not None}

    def _count(self) -> UsageDelta:
        reported = self._usage
        read = as_count(reported.get("cache_read_input_tokens"))
        written = as_count(reported.get("cache_creation_input_tokens"))
        output = as_count(reported.get("output_tokens"))
        usage = Usage(
            input=(as_count(reported.get("input_tokens")) + read + written) or tokens_of_request(self._request),
            output=output if self._counted else max(output, tokens_of_bytes(self._size)),
            cached_read=read,
            cached_write=written,
            reasoning=as_count((reported.get("output_tokens_details") or {}).get("thinking_tokens")),
            estimated=not (self._counted and "input_tokens" in reported),
        )
        return UsageDelta(usage, self._model, reported.get("service_tier"))


def _refusal(delta: dict[str, Any]) -> str:
    details = delta.get("stop_details") or {}
    return f"the model refused: {details.get('explanation') or details.get('category') or 'no reason given'}"
