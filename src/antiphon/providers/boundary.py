"""The boundary of an adapter: every delta and error of a server passes it, and none has the key.

1. The key is redacted in every string, in pieces of text as in whole ones, before anything is cut.
2. A character outside of the basic plane may be split between two pieces; half of one alone is replaced.
3. A complete reply has text or a tool call, and the tool call that the request demands.
"""

import re
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
from antiphon.providers.redaction import KeyPattern, PieceRedactor

SURROGATE = re.compile("[\ud800-\udfff]")
HIGH_SURROGATES = ("\ud800", "\udbff")


class Boundary:
    """Passes on the deltas and the error of one reply."""

    __slots__ = ("_arguments", "_called", "_pattern", "_request", "_text", "_thoughts")

    def __init__(self, request: Request, key: Secret | None) -> None:
        self._request = request
        self._pattern = None if key is None else key.pattern
        self._text = _Pieces(self._pattern)
        self._thoughts = _Pieces(self._pattern)
        # By the id of the tool call, as the server sent it.
        self._arguments: dict[str, _Pieces] = {}
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
                self._arguments[id] = _Pieces(self._pattern)
                name = self.clean(name)
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
        return ProviderError(Code.MALFORMED, reason, request_id=done.request_id)


class _Pieces:
    """Text that arrives in pieces."""

    __slots__ = ("_half", "_redactor", "has_begun")

    def __init__(self, pattern: KeyPattern | None) -> None:
        self.has_begun = False
        self._half = ""
        self._redactor = None if pattern is None else PieceRedactor(pattern)

    def feed(self, piece: str) -> str:
        """Return the text that is complete."""
        self.has_begun = True
        if self._half or not piece.isascii():
            piece = self._half + piece
            self._half = piece[-1] if HIGH_SURROGATES[0] <= piece[-1:] <= HIGH_SURROGATES[1] else ""
            piece = join_surrogates(piece[:-1] if self._half else piece)
        return piece if self._redactor is None else self._redactor.feed(piece)

    def rest(self) -> str:
        """Return what was held back."""
        half = join_surrogates(self._half)
        self._half = ""
        return half if self._redactor is None else self._redactor.feed(half) + self._redactor.flush()


def join_surrogates(text: str) -> str:
    """Join the halves of characters, and replace single halves, which cannot be encoded."""
    if text.isascii() or SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
