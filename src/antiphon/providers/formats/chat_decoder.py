"""Reading the chunks of a chat completion, in every dialect."""

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
from antiphon.providers.formats.error_bodies import fault_error, is_fault
from antiphon.providers.formats.truncation import ended_early, last_deltas
from antiphon.providers.http.sse import FrameDecoder
from antiphon.providers.usage import guessed_usage
from antiphon.providers.wire import SHAPE_ERRORS, counted, misshapen, named, parse_frame, said

STOPS: Mapping[str, Stop] = {
    "stop": "end",
    "length": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


class ChatDecoder:
    """Reads one completion; `[DONE]` is the end, for lenient dialects a finish reason is too."""

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
        """The deltas that these bytes complete."""
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
                        self._finish = said(choice["finish_reason"])
                if frame.get("usage"):
                    self._reported = _usage(frame["usage"])
            except SHAPE_ERRORS as error:
                raise misshapen(data) from error

    def end(self) -> Iterator[Delta]:
        """A body that ends before its end was cut."""
        yield from last_deltas(self.feed, self._cut)
        if self.finished:
            return
        if self._needs_done or self._finish is None:
            raise self._cut()
        yield from self._complete()

    def _cut(self) -> ProviderError:
        return ended_early(self._frames, "a finish reason and [DONE]", self._request_id)

    def _start(self, frame: dict[str, Any]) -> Iterator[Delta]:
        if is_fault(frame) or self._frames.event == "error":
            raise fault_error(frame, request_id=self._request_id)
        if "choices" not in frame or self._started:
            return
        self._started = True
        self._model = said(frame.get("model") or self._model)
        self._tier = frame.get("service_tier")
        yield self._count()

    def _parts(self, delta: dict[str, Any]) -> Iterator[Delta]:
        # Servers call it by two names, and some send both.
        thought = said(delta.get("reasoning_content") or delta.get("reasoning") or "")
        if thought:
            self._size += len(thought)
            yield ThinkingDelta(thought)
        content = delta.get("content")
        if content:
            yield from self._content(content)
        if delta.get("refusal"):
            self._refusal.append(said(delta["refusal"]))
        for call in delta.get("tool_calls") or ():
            yield from self._call(call)

    def _content(self, content: str | list[dict[str, Any]]) -> Iterator[Delta]:
        if isinstance(content, str):
            self._size += len(content)
            yield TextDelta(content)
            return
        for part in content:
            match part["type"]:
                case "text" if text := said(part["text"]):
                    self._size += len(text)
                    yield TextDelta(text)
                case "thinking":
                    for thought in [said(inner.get("text") or "") for inner in part["thinking"]]:
                        if thought:
                            self._size += len(thought)
                            yield ThinkingDelta(thought)
                    if part.get("signature"):
                        yield SignatureDelta(said(part["signature"]))

    def _call(self, call: dict[str, Any]) -> Iterator[Delta]:
        index = call.get("index") or 0
        function = call.get("function") or {}
        id = call.get("id")
        # A call begins with a new id; the pieces after it repeat the id, or leave it out, or say "null".
        begins = index not in self._calls or (id and id not in ("null", self._calls[index]) and function.get("name"))
        if begins:
            id = said(id) if id and id != "null" else f"call_{uuid4().hex}"
            self._calls[index] = id
            yield ToolStart(id, named(function["name"]))
        arguments = function.get("arguments")
        if arguments:
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            self._size += len(text)
            yield ToolArgs(self._calls[index], text)

    def _complete(self) -> Iterator[Delta]:
        finish = self._finish
        # A proxy may write `[DONE]` although the server behind it broke off.
        if finish is None:
            raise self._cut()
        yield self._count()
        if self._refusal or finish == "content_filter":
            why = "".join(self._refusal) or "the content filter stopped the reply"
            raise ProviderError(Code.REFUSED, why, request_id=self._request_id)
        if finish in ("error", "abort"):
            raise ProviderError(Code.OVERLOADED, "the server gave up on the reply", request_id=self._request_id)
        self.finished = True
        default: Stop = "tool_calls" if self._calls else "end"
        yield Done(STOPS.get(finish, default), self._request_id)

    def _count(self) -> UsageDelta:
        usage = self._reported or guessed_usage(self._request, self._size)
        return UsageDelta(usage, self._model, self._tier)


def _usage(told: dict[str, Any]) -> Usage:
    prompt = told.get("prompt_tokens_details") or {}
    completion = told.get("completion_tokens_details") or {}
    return Usage(
        input=counted(told.get("prompt_tokens")),
        output=counted(told.get("completion_tokens")),
        cached_read=counted(prompt.get("cached_tokens") or told.get("prompt_cache_hit_tokens")),
        cached_write=counted(prompt.get("cache_write_tokens")),
        reasoning=counted(completion.get("reasoning_tokens")),
    )
