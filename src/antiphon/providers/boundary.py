"""The boundary of an adapter: every delta and error of a server passes it, and none has the key.

1. The key is redacted in every string, in pieces of text as in whole ones, before anything is cut.
2. A character outside of the basic plane may be split between two pieces; half of one alone is replaced.
   Arguments of tool calls are not nested too deeply to be parsed.
3. A complete reply has text or a tool call, and the tool call that the request demands.
"""

from collections.abc import Iterable, Iterator

from antiphon.errors import Code
from antiphon.providers.base import (
    Delta,
    Done,
    Request,
    SignatureDelta,
    TextDelta,
    ThinkingDelta,
    ToolArgs,
    ToolStart,
    UsageDelta,
)
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Secret
from antiphon.providers.pieces import ArgumentPieces, Pieces, join_surrogates


class Boundary:
    """Passes on the deltas and the error of one reply."""

    __slots__ = ("_arguments", "_called", "_pattern", "_request", "_text", "_thoughts")

    def __init__(self, request: Request, key: Secret | None) -> None:
        self._request = request
        self._pattern = None if key is None else key.pattern
        self._text = Pieces(self._pattern)
        self._thoughts = Pieces(self._pattern)
        # By the id of the tool call, as the server sent it.
        self._arguments: dict[str, ArgumentPieces] = {}
        self._called: list[str] = []

    def __repr__(self) -> str:
        return f"Boundary(called={self._called!r})"

    def deltas(self, deltas: Iterable[Delta]) -> Iterator[Delta]:
        """Yield deltas without the key; raise `ProviderError` if the reply ends without what it must have."""
        for delta in deltas:
            # First, because most deltas are texts.
            if delta.__class__ is TextDelta:
                if text := self._text.feed(delta.text):
                    yield delta if text is delta.text else TextDelta(text)
                continue
            match delta:
                case ThinkingDelta(text):
                    if text := self._thoughts.feed(text):
                        yield ThinkingDelta(text)
                case ToolArgs(id, text):
                    if text := self._arguments[id].feed(text):
                        yield ToolArgs(self.clean(id), text)
                case Done(stop, request_id):
                    yield from self._rest()
                    self._check(delta)
                    # Some servers end a reply with tool calls like any other.
                    stop = "tool_calls" if self._called and stop == "end" else stop
                    yield Done(stop, self._clean_optional(request_id))
                case _:
                    yield self._whole(delta)

    def error(self, error: ProviderError) -> ProviderError:
        """Return an error without the key, without causes, and of limited length."""
        return error.clean(self.clean)

    def clean(self, text: str) -> str:
        """Return a whole text without the key and without halves of characters."""
        text = join_surrogates(text)
        return text if self._pattern is None else self._pattern.hide(text)

    def _clean_optional(self, text: str | None) -> str | None:
        return None if text is None else self.clean(text)

    def _whole(self, delta: Delta) -> Delta:
        match delta:
            case ToolStart(id, name):
                name = self.clean(name)
                self._arguments[id] = ArgumentPieces(name, self._pattern)
                self._called.append(name)
                return ToolStart(self.clean(id), name)
            case SignatureDelta(signature, call_id, redacted):
                return SignatureDelta(self.clean(signature), self._clean_optional(call_id), redacted)
            case UsageDelta(usage, model, tier):
                return UsageDelta(usage, self.clean(model), self._clean_optional(tier))
            case _:
                return delta

    def _rest(self) -> Iterator[Delta]:
        if text := self._thoughts.rest():
            yield ThinkingDelta(text)
        if text := self._text.rest():
            yield TextDelta(text)
        for id, arguments in self._arguments.items():
            if text := arguments.rest():
                yield ToolArgs(self.clean(id), text)

    def _check(self, done: Done) -> None:
        if done.stop == "pause":
            return
        if done.stop == "tool_calls" and not self._called:
            reason = "the server announced a tool call, but sent none"
            raise ProviderError(Code.MALFORMED, reason, request_id=done.request_id)
        if not self._text.has_begun and not self._called:
            raise self._empty(done)
        choice = self._request.tool_choice
        is_demanded = self._request.tools and choice not in ("auto", "none") and done.stop != "length"
        if is_demanded and (choice not in self._called if choice != "any" else not self._called):
            tool = "a tool" if choice == "any" else f"the tool {choice!r}"
            raise ProviderError(
                Code.UNSUPPORTED,
                f"the request demands a call of {tool}, but the reply has none; use a model that supports this",
                request_id=done.request_id,
            )

    def _empty(self, done: Done) -> ProviderError:
        if done.stop == "length":
            reason = "the token limit was reached before the first word; raise the limit"
            return ProviderError(Code.BAD_REQUEST, reason, request_id=done.request_id)
        reason = "the reply has reasoning, but no text" if self._thoughts.has_begun else "the reply is empty"
        # The request was paid for, and another one would probably get the same.
        return ProviderError(Code.MALFORMED, reason, recoverable=False, request_id=done.request_id)
