"""Decoder for the chunks of a chat completion, in all dialects."""

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
    UsageDelta,
)
from antiphon.providers.errors import ProviderError
from antiphon.providers.formats.chat_calls import ToolCalls
from antiphon.providers.formats.error_bodies import frame_error, is_error_frame
from antiphon.providers.formats.truncation import last_deltas, truncation_error
from antiphon.providers.http.sse import FrameDecoder
from antiphon.providers.usage import CountReader, complete_usage
from antiphon.providers.wire import SHAPE_ERRORS, as_text, parse_frame, shape_error

END = "[DONE]"
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
        "_calls", "_finish", "_frames", "_has_deltas", "_is_whole", "_model", "_needs_done", "_refusal", "_reported",
        "_request", "_request_id", "_size", "_started", "_tier", "finished",
    )  # fmt: skip

    def __init__(self, model: str, request: Request, request_id: str | None, *, needs_done: bool) -> None:
        self.finished = False
        self._frames = FrameDecoder()
        self._model = model
        self._request = request
        self._request_id = request_id
        self._needs_done = needs_done
        self._started = False
        self._has_deltas = False
        self._is_whole = False
        self._calls = ToolCalls()
        self._size = 0
        self._reported: Usage | None = None
        self._tier: str | None = None
        self._finish: str | None = None
        self._refusal: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[Delta]:
        """Yield the deltas that these bytes complete."""
        for data in self._frames.feed(chunk):
            if data[:1] in "[ \t" and data.strip() == END:
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
                        self._has_deltas = True
                        content = delta.get("content")
                        if content and type(content) is str and len(delta) == 1:
                            self._size += len(content)
                            yield TextDelta(content)
                        else:
                            yield from self._parts(delta)
                    elif not self._has_deltas:
                        yield from self._other_parts(choice)
                    if choice.get("finish_reason"):
                        self._finish = as_text(choice["finish_reason"])
                if isinstance(frame.get("usage"), dict):
                    self._reported = _usage(frame["usage"])
            except SHAPE_ERRORS as error:
                raise shape_error(data) from error

    def end(self) -> Iterator[Delta]:
        """Yield the last deltas; raise an error if the body ended too early."""
        yield from last_deltas(self._frames, self.feed, self._truncated)
        if self.finished:
            return
        if self._is_whole:
            self._finish = self._finish or "stop"
        if self._finish is None or (self._needs_done and self._has_deltas):
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
        tier = frame.get("service_tier")
        self._tier = tier if isinstance(tier, str) else None
        self._is_whole = frame.get("object") == "chat.completion"
        yield self._count()

    def _other_parts(self, choice: dict[str, Any]) -> Iterator[Delta]:
        """Yield the deltas of a choice that has another name for its delta, or a whole message."""
        message = choice.get("message")
        if message:
            yield from self._parts(message)
        elif text := as_text(choice.get("text") or ""):
            yield from self._content(text)

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
        if delta.get("function_call"):
            # The name of the field before there could be several calls.
            yield from self._calls.feed([{"index": "function_call", "function": delta["function_call"]}])
        if delta.get("tool_calls"):
            yield from self._calls.feed(delta["tool_calls"])

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
        yield Done(STOPS.get(finish, "end"), self._request_id)

    def _count(self) -> UsageDelta:
        usage = complete_usage(self._reported, self._request, self._size + self._calls.size)
        return UsageDelta(usage, self._model, self._tier)


def _usage(reported: dict[str, Any]) -> Usage:
    reader = CountReader()
    prompt = reader.group(reported.get("prompt_tokens_details"))
    completion = reader.group(reported.get("completion_tokens_details"))
    return Usage(
        input=reader.count(reported.get("prompt_tokens")),
        output=reader.count(reported.get("completion_tokens")),
        cached_read=reader.count(prompt.get("cached_tokens") or reported.get("prompt_cache_hit_tokens")),
        cached_write=reader.count(prompt.get("cache_write_tokens")),
        reasoning=reader.count(completion.get("reasoning_tokens")),
        estimated=not reader.is_exact,
    )
