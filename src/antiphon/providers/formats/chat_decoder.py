"""Decoder for the chunks of a chat completion, in all dialects."""

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
from antiphon.providers.formats.error_bodies import frame_error, is_error_frame
from antiphon.providers.formats.truncation import last_deltas, truncation_error
from antiphon.providers.http.sse import FrameDecoder
from antiphon.providers.usage import estimate_usage
from antiphon.providers.wire import SHAPE_ERRORS, as_count, as_name, as_text, parse_frame, shape_error

STOPS: Mapping[str, Stop] = {
    "stop": "end",
    "length": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


class ChatDecoder:
    """Decodes one completion, which ends with `[DONE]`, or in lenient dialects with a finish reason."""

    __slots__ = (
        "_calls", "_finish", "_frames", "_model", "_needs_done", "_refusal", "_reported", "_request", "_request_id",
        "_size", "_started", "_tier", "finished",
    )  # fmt: skip

    def __init__(self, model: str, request: Request, request_id: str | None, *, needs_done: bool) -> None:
        self.finished = False
        self._frames = FrameDecoder()
        self._model = model
        self._request = request
        self._request_id = request_id
        self._needs_done = needs_done
        self._started = False
        self._calls: dict[int, str] = {}
        self._size = 0
        self._reported: Usage | None = None
        self._tier: str | None = None
        self._finish: str | None = None
        self._refusal: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[Delta]:
        """Yield the deltas that these bytes complete."""
        for data in self._frames.feed(chunk):
            if data == "[DONE]":
                yield from self._complete()
                return
            frame = parse_frame(data)
            try:
                choices = frame.get("choices")
                if choices is None or not self._started or "error" in frame:
                    yield from self._start(frame)
                for choice in choices or ():
                    delta = choice.get("delta")
                    if delta:
                        content = delta.get("content")
                        if content and type(content) is str and len(delta) == 1:
                            self._size += len(content)
                            yield TextDelta(content)
                        else:
                            yield from self._parts(delta)
                    if choice.get("finish_reason"):
                        self._finish = as_text(choice["finish_reason"])
                if frame.get("usage"):
                    self._reported = _usage(frame["usage"])
            except SHAPE_ERRORS as error:
                raise shape_error(data) from error

    def end(self) -> Iterator[Delta]:
        """Yield the last deltas; raise an error if the body ended too early."""
        yield from last_deltas(self.feed, self._truncated)
        if self.finished:
            return
        if self._needs_done or self._finish is None:
            raise self._truncated()
        yield from self._complete()

    def _truncated(self) -> ProviderError:
        return truncation_error(self._frames, "a finish reason and [DONE]", self._request_id)

    def _start(self, frame: dict[str, Any]) -> Iterator[Delta]:
        if is_error_frame(frame) or self._frames.event == "error":
            raise frame_error(frame, request_id=self._request_id)
        if "choices" not in frame or self._started:
            return
        self._started = True
        self._model = as_text(frame.get("model") or self._model)
        self._tier = frame.get("service_tier")
        yield self._count()

    def _parts(self, delta: dict[str, Any]) -> Iterator[Delta]:
        # Servers use one of two names, and some send both.
        thought = as_text(delta.get("reasoning_content") or delta.get("reasoning") or "")
        if thought:
            self._size += len(thought)
            yield ThinkingDelta(thought)
        content = delta.get("content")
        if content:
            yield from self._content(content)
        if delta.get("refusal"):
            self._refusal.append(as_text(delta["refusal"]))
        for call in delta.get("tool_calls") or ():
            yield from self._call(call)

    def _content(self, content: str | list[dict[str, Any]]) -> Iterator[Delta]:
        if isinstance(content, str):
            self._size += len(content)
            yield TextDelta(content)
            return
        for part in content:
            match part["type"]:
                case "text" if text := as_text(part["text"]):
                    self._size += len(text)
                    yield TextDelta(text)
                case "thinking":
                    for thought in [as_text(inner.get("text") or "") for inner in part["thinking"]]:
                        if thought:
                            self._size += len(thought)
                            yield ThinkingDelta(thought)
                    if part.get("signature"):
                        yield SignatureDelta(as_text(part["signature"]))

    def _call(self, call: dict[str, Any]) -> Iterator[Delta]:
        index = call.get("index") or 0
        function = call.get("function") or {}
        id = call.get("id")
        # A call begins with a new id; later pieces repeat it, leave it out, or have "null".
        begins = index not in self._calls or (id and id not in ("null", self._calls[index]) and function.get("name"))
        if begins:
            id = as_text(id) if id and id != "null" else f"call_{uuid4().hex}"
            self._calls[index] = id
            yield ToolStart(id, as_name(function["name"]))
        arguments = function.get("arguments")
        if arguments:
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            self._size += len(text)
            yield ToolArgs(self._calls[index], text)

    def _complete(self) -> Iterator[Delta]:
        finish = self._finish
        # A proxy may send `[DONE]` although the server behind it broke off.
        if finish is None:
            raise self._truncated()
        yield self._count()
        if self._refusal or finish == "content_filter":
            reason = "".join(self._refusal) or "the content filter stopped the reply"
            raise ProviderError(Code.REFUSED, reason, request_id=self._request_id)
        if finish in ("error", "abort"):
            raise ProviderError(Code.OVERLOADED, "the server aborted the reply", request_id=self._request_id)
        self.finished = True
        default: Stop = "tool_calls" if self._calls else "end"
        yield Done(STOPS.get(finish, default), self._request_id)

    def _count(self) -> UsageDelta:
        usage = self._reported or estimate_usage(self._request, self._size)
        return UsageDelta(usage, self._model, self._tier)


def _usage(reported: dict[str, Any]) -> Usage:
    prompt = reported.get("prompt_tokens_details") or {}
    completion = reported.get("completion_tokens_details") or {}
    return Usage(
        input=as_count(reported.get("prompt_tokens")),
        output=as_count(reported.get("completion_tokens")),
        cached_read=as_count(prompt.get("cached_tokens") or reported.get("prompt_cache_hit_tokens")),
        cached_write=as_count(prompt.get("cache_write_tokens")),
        reasoning=as_count(completion.get("reasoning_tokens")),
    )
