"""Accumulates the deltas of a reply into a message and its usage."""

from dataclasses import replace

from antiphon.messages import Message, Part, Text, Thinking, ToolCall, Usage
from antiphon.providers.base import (
    Delta,
    Done,
    Model,
    Provider,
    Request,
    SignatureDelta,
    TextDelta,
    ThinkingDelta,
    ToolArgs,
    ToolStart,
    UsageDelta,
)
from antiphon.providers.usage import tokens_of_request
from antiphon.tokens import tokens_of_bytes


class _PartBuilder:
    """Part under construction; its pieces are joined when it is read."""

    __slots__ = ("call", "pieces", "redacted", "signature", "thought")

    def __init__(self, *, thought: bool = False, call: ToolStart | None = None) -> None:
        self.thought = thought
        self.call = call
        self.pieces: list[str] = []
        self.signature: str | None = None
        self.redacted = False


class Reply:
    """Reply as far as it has arrived, complete or truncated."""

    __slots__ = ("_calls", "_estimate", "_parts", "_reported", "_request", "_size", "done", "model")

    def __init__(self, model: Model, request: Request) -> None:
        self.model = model
        self.done: Done | None = None
        self._request = request
        self._estimate: int | None = None  # tokens of the request, computed on first use
        self._parts: list[_PartBuilder] = []
        self._calls: dict[str, _PartBuilder] = {}
        self._reported: UsageDelta | None = None
        self._size = 0

    def add(self, delta: Delta) -> None:
        """Add the next delta."""
        match delta:
            case TextDelta(text):
                self._append(text, thought=False)
            case ThinkingDelta(text):
                self._append(text, thought=True)
            case ToolArgs(id, text):
                self._calls[id].pieces.append(text)
                self._size += len(text)
            case ToolStart():
                self._parts.append(_PartBuilder(call=delta))
                self._calls[delta.id] = self._parts[-1]
            case SignatureDelta():
                self._sign(delta)
            case UsageDelta():
                self._reported = delta
            case Done():
                self.done = delta

    @property
    def text(self) -> str:
        """Text so far."""
        return self.message().text

    @property
    def answered_by(self) -> str:
        """Name of the model that really answers, which determines the price."""
        return self._reported.model if self._reported else self.model.name

    @property
    def tier(self) -> str | None:
        """Service tier that the provider reports."""
        return self._reported.tier if self._reported else None

    @property
    def has_begun(self) -> bool:
        """True if any part has arrived; requests that fail before that are not charged."""
        return bool(self._parts) or self.done is not None

    @property
    def usage(self) -> Usage:
        """Token counts: as reported once the reply is complete, estimated before that."""
        reported = self._reported.usage if self._reported else Usage()
        if self.done is not None and self._reported is not None:
            return reported
        return replace(
            reported,
            input=reported.input or self._request_tokens(),
            output=max(reported.output, tokens_of_bytes(self._size)),
            estimated=True,
        )

    def _request_tokens(self) -> int:
        if self._estimate is None:
            self._estimate = tokens_of_request(self._request)
        return self._estimate

    def message(self) -> Message:
        """Return the reply as a message; of a truncated reply, without incomplete tool calls."""
        parts = [part for part in map(self._finish_part, self._parts) if part is not None]
        return Message("assistant", tuple(parts), self.model.provider)

    def _append(self, text: str, *, thought: bool) -> None:
        last = self._parts[-1] if self._parts else None
        # A signature ends the reasoning part: more reasoning starts a new one.
        if last is None or last.call is not None or last.thought != thought or last.signature is not None:
            last = _PartBuilder(thought=thought)
            self._parts.append(last)
        last.pieces.append(text)
        self._size += len(text)

    def _sign(self, delta: SignatureDelta) -> None:
        if delta.call_id is not None:
            self._calls[delta.call_id].signature = delta.signature
            return
        last = self._parts[-1] if self._parts else None
        if last is None or not last.thought or last.signature is not None:
            last = _PartBuilder(thought=True)
            self._parts.append(last)
        last.signature = delta.signature
        last.redacted = delta.redacted

    def _finish_part(self, part: _PartBuilder) -> Part | None:
        text = "".join(part.pieces)
        if part.call is None:
            return Thinking(text, part.signature, part.redacted) if part.thought else Text(text)
        call = ToolCall(part.call.id, part.call.name, text or "{}", part.signature)
        return call if self.done is not None or _is_whole(call) else None


def _is_whole(call: ToolCall) -> bool:
    try:
        call.input()
    except (ValueError, RecursionError):
        return False
    return True


async def collect(provider: Provider, request: Request) -> Reply:
    """Send a request and return the whole reply."""
    reply = Reply(provider.model, request)
    async for delta in provider.stream(request):
        reply.add(delta)
    return reply
