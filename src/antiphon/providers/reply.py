"""A reply as it grows: the message it will be, and what it has used so far."""

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


class _Open:
    """A part that still grows; its pieces are joined once, when it is read."""

    __slots__ = ("call", "pieces", "redacted", "signature", "thought")

    def __init__(self, *, thought: bool = False, call: ToolStart | None = None) -> None:
        self.thought = thought
        self.call = call
        self.pieces: list[str] = []
        self.signature: str | None = None
        self.redacted = False


class Reply:
    """What has arrived of a reply, complete or cut short."""

    __slots__ = ("_calls", "_guess", "_parts", "_reported", "_request", "_size", "done", "model")

    def __init__(self, model: Model, request: Request) -> None:
        self.model = model
        self.done: Done | None = None
        self._request = request
        self._guess: int | None = None  # about how many tokens the request is, once somebody asks
        self._parts: list[_Open] = []
        self._calls: dict[str, _Open] = {}
        self._reported: UsageDelta | None = None
        self._size = 0

    def add(self, delta: Delta) -> None:
        """Take the next delta."""
        match delta:
            case TextDelta(text):
                self._grow(text, thought=False)
            case ThinkingDelta(text):
                self._grow(text, thought=True)
            case ToolArgs(id, text):
                self._calls[id].pieces.append(text)
                self._size += len(text)
            case ToolStart():
                self._parts.append(_Open(call=delta))
                self._calls[delta.id] = self._parts[-1]
            case SignatureDelta():
                self._sign(delta)
            case UsageDelta():
                self._reported = delta
            case Done():
                self.done = delta

    @property
    def text(self) -> str:
        """The words so far."""
        return self.message().text

    @property
    def answered_by(self) -> str:
        """The model that really answers, as far as it has said; prices go by it."""
        return self._reported.model if self._reported else self.model.name

    @property
    def tier(self) -> str | None:
        """The service tier that the provider says it used."""
        return self._reported.tier if self._reported else None

    @property
    def has_begun(self) -> bool:
        """Whether anything of the answer has arrived; what fails before that is not paid for."""
        return bool(self._parts) or self.done is not None

    @property
    def usage(self) -> Usage:
        """The tokens so far: as reported once the reply is complete, estimated from what arrived before that."""
        reported = self._reported.usage if self._reported else Usage()
        if self.done is not None and self._reported is not None:
            return reported
        return replace(
            reported,
            input=reported.input or self._asked(),
            output=max(reported.output, tokens_of_bytes(self._size)),
            estimated=True,
        )

    def _asked(self) -> int:
        if self._guess is None:
            self._guess = tokens_of_request(self._request)
        return self._guess

    def message(self) -> Message:
        """The reply as a message; of one that was cut short, tool calls with half their arguments are left out."""
        parts = [part for part in map(self._closed, self._parts) if part is not None]
        return Message("assistant", tuple(parts), self.model.provider)

    def _grow(self, text: str, *, thought: bool) -> None:
        last = self._parts[-1] if self._parts else None
        # A signed thought is closed: what follows is the next one.
        if last is None or last.call is not None or last.thought != thought or last.signature is not None:
            last = _Open(thought=thought)
            self._parts.append(last)
        last.pieces.append(text)
        self._size += len(text)

    def _sign(self, delta: SignatureDelta) -> None:
        if delta.call_id is not None:
            self._calls[delta.call_id].signature = delta.signature
            return
        last = self._parts[-1] if self._parts else None
        if last is None or not last.thought or last.signature is not None:
            last = _Open(thought=True)
            self._parts.append(last)
        last.signature = delta.signature
        last.redacted = delta.redacted

    def _closed(self, part: _Open) -> Part | None:
        text = "".join(part.pieces)
        if part.call is None:
            return Thinking(text, part.signature, part.redacted) if part.thought else Text(text)
        call = ToolCall(part.call.id, part.call.name, text or "{}", part.signature)
        return call if self.done is not None or _is_whole(call) else None


def _is_whole(call: ToolCall) -> bool:
    try:
        call.input()
    except ValueError:
        return False
    return True


async def collect(provider: Provider, request: Request) -> Reply:
    """The whole reply, for callers who do not need it piece by piece."""
    reply = Reply(provider.model, request)
    async for delta in provider.stream(request):
        reply.add(delta)
    return reply
