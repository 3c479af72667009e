"""Texts of a reply that arrive in pieces: joined characters, no key, and arguments that can be parsed."""

import re

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.redaction import KeyPattern, PieceRedactor

SURROGATE = re.compile("[\ud800-\udfff]")
FIRST_HIGH_SURROGATE = "\ud800"
LAST_HIGH_SURROGATE = "\udbff"
# An escaped backslash, both halves of a character, or one half alone.
ESCAPED_HALVES = re.compile(
    r"\\\\|(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
# An escape that may continue in the next piece.
OPEN_ESCAPE = re.compile(
    r"(?<!\\)(?:\\\\)*(?P<escape>(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?)\Z"
)
STRUCTURE = re.compile(r'\\.|["\[\]{}]', re.DOTALL)
# Values nested more deeply cannot be stored, and no tool takes them.
MAX_DEPTH = 100


class Pieces:
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
            is_half = FIRST_HIGH_SURROGATE <= piece[-1:] <= LAST_HIGH_SURROGATE
            self._half = piece[-1] if is_half else ""
            piece = join_surrogates(piece[:-1] if is_half else piece)
        return piece if self._redactor is None else self._redactor.feed(piece)

    def rest(self) -> str:
        """Return what was held back."""
        half = join_surrogates(self._half)
        self._half = ""
        return half if self._redactor is None else self._redactor.feed(half) + self._redactor.flush()


class ArgumentPieces:
    """Arguments of a tool call, as JSON text that arrives in pieces."""

    __slots__ = ("_depth", "_escape", "_in_string", "_name", "_text")

    def __init__(self, name: str, pattern: KeyPattern | None) -> None:
        self._name = name
        self._text = Pieces(pattern)
        self._escape = ""
        self._in_string = False
        self._depth = 0

    def feed(self, piece: str) -> str:
        """Return the text that is complete; raise `ProviderError` if it is nested too deeply."""
        piece = self._escape + piece
        self._escape = ""
        if "\\" in piece:
            open_escape = OPEN_ESCAPE.search(piece)
            self._escape = open_escape["escape"] if open_escape is not None else ""
            piece = _join_escaped(piece[: len(piece) - len(self._escape)])
        self._measure(piece)
        return self._text.feed(piece)

    def rest(self) -> str:
        """Return what was held back."""
        escape = _join_escaped(self._escape)
        self._escape = ""
        return self._text.feed(escape) + self._text.rest()

    def _measure(self, piece: str) -> None:
        for token in STRUCTURE.findall(piece):
            if token == '"':
                self._in_string = not self._in_string
            elif self._in_string:
                continue
            elif token in ("[", "{"):
                self._depth += 1
            elif token in ("]", "}"):
                self._depth -= 1
            if self._depth > MAX_DEPTH:
                reason = f"the arguments of the tool call {self._name!r} are nested too deeply"
                raise ProviderError(Code.MALFORMED, reason, recoverable=False)


def join_surrogates(text: str) -> str:
    """Join the halves of characters, and replace single halves, which cannot be encoded."""
    if text.isascii() or SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _join_escaped(text: str) -> str:
    """Replace single halves of characters that are escaped as in JSON."""
    return ESCAPED_HALVES.sub(lambda match: r"\ufffd" if match["half"] else match[0], text)
