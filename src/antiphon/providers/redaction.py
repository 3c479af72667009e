"""Redaction of a key in texts: as it is, escaped or encoded, and split between the pieces of a stream.

1. A form is a sequence of elements, one for each character: the key itself, each character of which may be escaped
   as in JSON or in a URL; its Base64, at each of the three offsets in a longer text; its hexadecimal digits.
2. A text that arrives in pieces is held back while its end may be the beginning of a form. The first three elements
   are not held back: they are no secret, and many texts end with them.
"""

import re
from base64 import b64encode
from functools import lru_cache

MASK = "[key]"
# Shorter keys, as for servers on the same machine, are words that texts contain.
SHORTEST_KEY = 8
HELD_ELEMENTS = 4
# Characters before a piece in which a form may have begun: the elements that are not held back, plain and escaped.
SHORT_CONTEXT = HELD_ELEMENTS - 1
CONTEXT = 72
PARTIAL_ESCAPE = re.compile(r"\\{1,16}(?:u0?0?[0-9a-fA-F]?)?|%(?:25){0,2}[0-9a-fA-F]?2?")


class KeyPattern:
    """All forms of a key, to be found in texts."""

    __slots__ = ("_forms", "_heads", "_suspects", "_whole")

    def __init__(self, key: str) -> None:
        encoded = _encoded_forms(key)
        # Longest first, because forms may begin alike.
        self._forms = sorted(
            [list(map(_escaped, key)), *([*map(re.escape, form)] for form in encoded)], key=len, reverse=True
        )
        self._heads = re.compile("|".join("".join(form[:HELD_ELEMENTS]) for form in self._forms))
        # Much faster than the pattern of the heads, and with a match in every text that has a head.
        literals = [re.escape(form[:HELD_ELEMENTS]) for form in (key, *encoded)]
        self._suspects = re.compile("|".join([*literals, r"[\\%]"]))
        self._whole: re.Pattern[str] | None = None

    def hide(self, text: str) -> str:
        """Return a text with the key redacted."""
        return self.whole.sub(MASK, text) if self.is_suspect(text) and self.has_head(text) else text

    def is_suspect(self, text: str) -> bool:
        """Return whether a text may have the beginning of a form, or has an escaped character."""
        return self._suspects.search(text) is not None

    def has_head(self, text: str) -> bool:
        """Return whether a text has the beginning of a form."""
        return self._heads.search(text) is not None

    @property
    def whole(self) -> re.Pattern[str]:
        """Pattern of all forms, compiled when it is first needed because that is slow."""
        if self._whole is None:
            self._whole = re.compile("|".join("".join(form) for form in self._forms))
        return self._whole

    def find_partial(self, text: str) -> int:
        """Return where the beginning of a form starts that the end of a text cuts off, or the length of the text."""
        at = 0
        while (head := self._heads.search(text, at)) is not None:
            if any(_is_cut_off(form, text, head.start()) for form in self._forms):
                return head.start()
            at = head.start() + 1
        return len(text)


class PieceRedactor:
    """Redacts a key in a text that arrives in pieces."""

    __slots__ = ("_context", "_held", "_pattern")

    def __init__(self, pattern: KeyPattern) -> None:
        self._pattern = pattern
        self._context = ""
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the text that is complete, without the key."""
        pattern = self._pattern
        text = self._context + self._held + piece
        if not self._held:
            if not pattern.is_suspect(text):
                self._context = text[-SHORT_CONTEXT:]
                return piece
            if not pattern.has_head(text):
                self._context = text[-CONTEXT:]
                return piece
        passed = len(self._context)
        result = ""
        begin = 0
        for match in pattern.whole.finditer(text):
            result += text[passed : match.start()] + MASK
            passed = begin = match.end()
        partial = max(begin, pattern.find_partial(text))
        end = max(passed, partial)
        self._held = text[end:]
        self._context = text[max(begin, min(partial, end) - CONTEXT) : end]
        return result + text[passed:end]

    def flush(self) -> str:
        """Return the text that was held back; it is not the key."""
        held = self._held
        self._held = ""
        return held


@lru_cache(maxsize=32)
def key_pattern(key: str) -> KeyPattern | None:
    """Return the pattern of a key; None if the key is too short to be a secret."""
    return KeyPattern(key) if len(key) >= SHORTEST_KEY else None


def _is_cut_off(form: list[str], text: str, at: int) -> bool:
    for number, element in enumerate(form):
        if at == len(text) or PARTIAL_ESCAPE.fullmatch(text, at) is not None:
            return number >= HELD_ELEMENTS
        match = re.compile(element).match(text, at)
        if match is None:
            break
        at = match.end()
    return False


def _encoded_forms(key: str) -> set[str]:
    raw = key.encode()
    forms = {raw.hex(), raw.hex().upper()}
    for offset in range(3):
        encoded = b64encode(b"\0" * offset + raw).decode()
        # The characters at both ends depend on the bytes around the key as well.
        core = encoded[-(-offset * 8 // 6) : (offset + len(raw)) * 8 // 6]
        forms |= {core, core.replace("+", "-").replace("/", "_")}
    return forms


def _escaped(character: str) -> str:
    digits = "".join(f"[{digit}{digit.upper()}]" for digit in f"{ord(character):02x}")
    literal = {"\\": r"\\{1,16}", '"': r'\\{0,16}"', "/": r"\\{0,16}/"}.get(character, re.escape(character))
    return rf"(?:\\{{1,16}}u00{digits}|%(?:25){{0,2}}{digits}|{literal})"
