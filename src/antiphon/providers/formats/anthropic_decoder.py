"""Decoder for the events of Anthropic's Messages API."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

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
from antiphon.providers.usage import CountReader, complete_usage
from antiphon.providers.wire import SHAPE_ERRORS, as_name, as_text, parse_frame, shape_error
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
        "_calls", "_counted", "_frames", "_index", "_model", "_request", "_request_id", "_size", "_stop", "_usage",
        "finished",
    )  # fmt: skip

    def __init__(self, model: str, request: Request, request_id: str | None) -> None:
        self.finished = False
        self._frames = FrameDecoder()
        self._model = model
        self._request = request
        self._request_id = request_id
        # Some proxies leave out the number of a block: it is then the next one.
        self._index = -1
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
                        yield from self._other_delta(frame.get("index", self._index), delta)
                else:
                    yield from self._event(kind, frame)
            except SHAPE_ERRORS as error:
                raise shape_error(data) from error
            if self.finished:
                return

    def end(self) -> Iterator[Delta]:
        """Raise an error if the body ended before `message_stop`."""
        yield from last_deltas(self._frames, self.feed, self._truncated)
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
                self._index = frame.get("index", self._index + 1)
                yield from self._block(self._index, frame["content_block"])
            case "message_start":
                yield self._start(frame["message"])
            case "message_delta":
                self._add(frame.get("usage"))
                self._counted = bool(frame.get("usage"))
                yield from self._set_stop(frame["delta"])
            case "message_stop":
                yield from self._complete()
            case "message":
                # The whole reply, from a server that does not stream.
                yield self._start(frame)
                for index, block in enumerate(frame["content"]):
                    yield from self._block(index, block)
                self._counted = bool(frame.get("usage"))
                yield from self._set_stop(frame)
                yield from self._complete()
            case "error":
                raise frame_error(frame, request_id=self._request_id)

    def _start(self, message: dict[str, Any]) -> UsageDelta:
        self._model = as_text(message.get("model") or self._model)
        self._add(message.get("usage"))
        return self._count()

    def _set_stop(self, delta: dict[str, Any]) -> Iterator[Delta]:
        self._stop = as_text(delta.get("stop_reason") or self._stop or "")
        if self._stop == "refusal":
            yield self._count()
            raise ProviderError(Code.REFUSED, _refusal(delta), request_id=self._request_id)

    def _complete(self) -> Iterator[Delta]:
        self.finished = True
        yield self._count()
        yield Done(STOPS.get(self._stop or "", "end"), self._request_id)

    def _block(self, index: int, block: dict[str, Any]) -> Iterator[Delta]:
        match block["type"]:
            case "tool_use":
                id = self._calls[index] = as_text(block.get("id") or f"toolu_{uuid4().hex}")
                yield ToolStart(id, as_name(block["name"]))
                # Proxies that do not stream arguments send them here.
                if block.get("input"):
                    arguments = json.dumps(block["input"])
                    self._size += len(arguments)
                    yield ToolArgs(id, arguments)
            case "redacted_thinking":
                yield SignatureDelta(as_text(block["data"]), redacted=True)
            case "text" if block.get("text"):
                text = as_text(block["text"])
                self._size += len(text)
                yield TextDelta(text)
            case "thinking":
                if thought := as_text(block.get("thinking") or ""):
                    self._size += len(thought)
                    yield ThinkingDelta(thought)
                if block.get("signature"):
                    yield SignatureDelta(as_text(block["signature"]))

    def _add(self, reported: Any) -> None:
        if isinstance(reported, dict):
            self._usage |= {key: value for key, value in reported.items() if value is not None}

    def _count(self) -> UsageDelta:
        reported = self._usage
        reader = CountReader()
        read = reader.count(reported.get("cache_read_input_tokens"))
        written = reader.count(reported.get("cache_creation_input_tokens"))
        output = reader.count(reported.get("output_tokens"))
        details = reader.group(reported.get("output_tokens_details"))
        usage = Usage(
            input=reader.count(reported.get("input_tokens")) + read + written,
            output=output if self._counted else max(output, tokens_of_bytes(self._size)),
            cached_read=read,
            cached_write=written,
            reasoning=reader.count(details.get("thinking_tokens")),
            estimated=not (self._counted and "input_tokens" in reported and reader.is_exact),
        )
        tier = reported.get("service_tier")
        return UsageDelta(
            complete_usage(usage, self._request, self._size), self._model, tier if isinstance(tier, str) else None
        )


def _refusal(delta: dict[str, Any]) -> str:
    details = delta.get("stop_details") or {}
    return f"the model refused: {details.get('explanation') or details.get('category') or 'no reason given'}"
