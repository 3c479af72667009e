"""Decoder for the responses of Google's Gemini API."""

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
from antiphon.providers.formats.error_bodies import frame_error, is_error_frame
from antiphon.providers.formats.truncation import last_deltas, truncation_error
from antiphon.providers.http.sse import FrameDecoder
from antiphon.providers.usage import CountReader, complete_usage
from antiphon.providers.wire import SHAPE_ERRORS, as_name, as_text, parse_frame, shape_error

GENERATED_ID = "gcall_"
# The server could not parse the output of the model; a retry may succeed.
MALFORMED_REASONS = {"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"}


class GoogleDecoder:
    """Decodes one reply, which ends with a finish reason and the end of the body."""

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
        """Yield the deltas that these bytes complete."""
        for data in self._frames.feed(chunk):
            frame = parse_frame(data)
            try:
                if not self._started or "candidates" not in frame:
                    yield from self._start(frame)
                if frame.get("usageMetadata"):
                    self._add(frame["usageMetadata"])
                for candidate in frame.get("candidates") or ():
                    for part in (candidate.get("content") or {}).get("parts") or ():
                        yield from self._part(part)
                    if candidate.get("finishReason"):
                        self._finish = as_text(candidate["finishReason"])
            except SHAPE_ERRORS as error:
                raise shape_error(data) from error

    def end(self) -> Iterator[Delta]:
        """Yield the last deltas; raise an error without a regular finish reason."""
        yield from last_deltas(self._frames, self.feed, self._truncated)
        if self._finish is None or self._frames.stray.strip():
            raise self._truncated()
        yield self._count()
        if self._finish in MALFORMED_REASONS:
            raise ProviderError(Code.MALFORMED, f"the reply is malformed: {self._finish}", request_id=self._request_id)
        if self._finish not in ("STOP", "MAX_TOKENS"):
            reason = f"the reply was stopped: {self._finish}"
            raise ProviderError(Code.REFUSED, reason, request_id=self._request_id)
        self.finished = True
        stop: Stop = "length" if self._finish == "MAX_TOKENS" else "tool_calls" if self._called else "end"
        yield Done(stop, self._request_id)

    def _truncated(self) -> ProviderError:
        return truncation_error(self._frames, "a finish reason", self._request_id)

    def _start(self, frame: dict[str, Any]) -> Iterator[Delta]:
        if is_error_frame(frame):
            raise frame_error(frame, request_id=self._request_id)
        if not self._started:
            self._started = True
            self._model = as_text(frame.get("modelVersion") or self._model)
            self._request_id = self._request_id or as_text(frame.get("responseId") or "") or None
            yield self._count()
        blocked = (frame.get("promptFeedback") or {}).get("blockReason")
        if blocked:
            reason = f"the prompt was blocked: {blocked}"
            raise ProviderError(Code.REFUSED, reason, request_id=self._request_id)

    def _part(self, part: dict[str, Any]) -> Iterator[Delta]:
        signature = as_text(part.get("thoughtSignature") or "")
        text = as_text(part.get("text") or "")
        if text:
            self._size += len(text)
            yield ThinkingDelta(text) if part.get("thought") else TextDelta(text)
        call = part.get("functionCall")
        if call is not None:
            self._called = True
            id = as_text(call.get("id") or f"{GENERATED_ID}{uuid4().hex}")
            arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
            self._size += len(arguments)
            yield ToolStart(id, as_name(call["name"]))
            yield ToolArgs(id, arguments)
            if signature:
                yield SignatureDelta(signature, id)
        elif signature:
            yield SignatureDelta(signature)

    def _add(self, reported: Any) -> None:
        if isinstance(reported, dict):
            self._reported = _usage(reported)
            tier = reported.get("serviceTier")
            self._tier = tier if isinstance(tier, str) else None

    def _count(self) -> UsageDelta:
        return UsageDelta(complete_usage(self._reported, self._request, self._size), self._model, self._tier)


def _usage(reported: dict[str, Any]) -> Usage:
    reader = CountReader()
    thoughts = reader.count(reported.get("thoughtsTokenCount"))
    return Usage(
        input=reader.count(reported.get("promptTokenCount")) + reader.count(reported.get("toolUsePromptTokenCount")),
        output=reader.count(reported.get("candidatesTokenCount")) + thoughts,
        cached_read=reader.count(reported.get("cachedContentTokenCount")),
        reasoning=thoughts,
        estimated=not reader.is_exact,
    )
