"""Reading the responses of Google's Gemini API."""

import json
from collections.abc import Iterator
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

MADE_UP_ID = "gcall_"
# The model wrote something that its own server could not read; another try may go better.
BOTCHED = {"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"}


class GoogleDecoder:
    """Reads one reply; a finish reason and then the end of the body complete it."""

    __slots__ = (
        "_called", "_finish", "_frames", "_model", "_reported", "_request", "_request_id", "_size", "_started",
        "_tier", "finished",
    )  # fmt: skip

    def __init__(self, model: str, request: Request, request_id: str | None) -> None:
        self.finished = False
        self._frames = FrameDecoder()
        self._model = model
        self._request = request
        self._request_id = request_id
        self._started = False
        self._called = False
        self._size = 0
        self._reported: Usage | None = None
        self._tier: str | None = None
        self._finish: str | None = None

    def feed(self, chunk: bytes) -> Iterator[Delta]:
        """The deltas that these bytes complete."""
        for data in self._frames.feed(chunk):
            frame = parse_frame(data)
            try:
                if not self._started or "candidates" not in frame:
                    yield from self._start(frame)
                if frame.get("usageMetadata"):
                    self._reported = _usage(frame["usageMetadata"])
                    self._tier = frame["usageMetadata"].get("serviceTier")
                for candidate in frame.get("candidates") or ():
                    for part in (candidate.get("content") or {}).get("parts") or ():
                        yield from self._part(part)
                    if candidate.get("finishReason"):
                        self._finish = said(candidate["finishReason"])
            except SHAPE_ERRORS as error:
                raise misshapen(data) from error

    def end(self) -> Iterator[Delta]:
        """Without a finish reason the body was cut."""
        yield from last_deltas(self.feed, self._cut)
        if self._finish is None or self._frames.stray.strip():
            raise self._cut()
        yield self._count()
        if self._finish in BOTCHED:
            raise ProviderError(Code.MALFORMED, f"the reply was spoiled: {self._finish}", request_id=self._request_id)
        if self._finish not in ("STOP", "MAX_TOKENS"):
            why = f"the reply was stopped: {self._finish}"
            raise ProviderError(Code.REFUSED, why, request_id=self._request_id)
        self.finished = True
        stop: Stop = "length" if self._finish == "MAX_TOKENS" else "tool_calls" if self._called else "end"
        yield Done(stop, self._request_id)

    def _cut(self) -> ProviderError:
        return ended_early(self._frames, "a finish reason", self._request_id)

    def _start(self, frame: dict[str, Any]) -> Iterator[Delta]:
        if is_fault(frame):
            raise fault_error(frame, request_id=self._request_id)
        if not self._started:
            self._started = True
            self._model = said(frame.get("modelVersion") or self._model)
            self._request_id = self._request_id or said(frame.get("responseId") or "") or None
            yield self._count()
        blocked = (frame.get("promptFeedback") or {}).get("blockReason")
        if blocked:
            why = f"the prompt was blocked: {blocked}"
            raise ProviderError(Code.REFUSED, why, request_id=self._request_id)

    def _part(self, part: dict[str, Any]) -> Iterator[Delta]:
        signature = said(part.get("thoughtSignature") or "")
        text = said(part.get("text") or "")
        if text:
            self._size += len(text)
            yield ThinkingDelta(text) if part.get("thought") else TextDelta(text)
        call = part.get("functionCall")
        if call is not None:
            self._called = True
            id = said(call.get("id") or f"{MADE_UP_ID}{uuid4().hex}")
            arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
            self._size += len(arguments)
            yield ToolStart(id, named(call["name"]))
            yield ToolArgs(id, arguments)
            if signature:
                yield SignatureDelta(signature, id)
        elif signature:
            yield SignatureDelta(signature)

    def _count(self) -> UsageDelta:
        usage = self._reported or guessed_usage(self._request, self._size)
        return UsageDelta(usage, self._model, self._tier)


def _usage(told: dict[str, Any]) -> Usage:
    thoughts = counted(told.get("thoughtsTokenCount"))
    return Usage(
        input=counted(told.get("promptTokenCount")) + counted(told.get("toolUsePromptTokenCount")),
        output=counted(told.get("candidatesTokenCount")) + thoughts,
        cached_read=counted(told.get("cachedContentTokenCount")),
        reasoning=thoughts,
    )
