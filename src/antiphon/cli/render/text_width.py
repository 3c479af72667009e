"""Text measured in terminal cells, and made harmless for a terminal."""

from unicodedata import category, combining, east_asian_width

ELLIPSIS = "…"
# Lines, tabs, and what joins the parts of one character.
KEPT = "\n\t\u200c\u200d"


def harmless(text: str) -> str:
    """The text in one line, without anything a terminal would obey."""
    return "".join(" " if category(character)[0] in "CZ" else character for character in text)


def harmless_lines(text: str) -> str:
    """The text with its lines and tabs, but without anything else a terminal would obey."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character for character in text if category(character)[0] != "C" or character in KEPT)


def written_out(text: str) -> str:
    """The text in one line, in which everything that cannot be seen is written out."""
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    kind = category(character)[0]
    return f"‹U+{ord(character):04X}›" if kind == "C" or (kind == "Z" and character != " ") else character


def width(text: str) -> int:
    """How many cells a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1 for character in text)


def clip(text: str, cells: int) -> str:
    """The text if it fits, else its beginning."""
    if width(text) <= cells:
        return text
    kept = text[: max(0, cells)]
    while kept and width(kept) > cells - 1:
        kept = kept[:-1]
    return kept + ELLIPSIS if cells > 0 else ""


def pad(text: str, cells: int) -> str:
    """The text in exactly so many cells."""
    clipped = clip(text, cells)
    return clipped + " " * (cells - width(clipped))


def wrap(text: str, cells: int) -> list[str]:
    """The text in lines that fit, broken between words where possible."""
    lines: list[str] = []
    line = ""
    for word in harmless(text).split():
        while width(word) > cells:
            room = max(1, cells)
            lines.extend([line] if line else [])
            line, word = "", _rest(word, room, lines)
        if line and width(line) + 1 + width(word) > cells:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line] if line else lines


def _rest(word: str, cells: int, lines: list[str]) -> str:
    """Put as much of a long word into a line of its own as fits; gives what is left."""
    count = 1
    while count < len(word) and width(word[: count + 1]) <= cells:
        count += 1
    lines.append(word[:count])
    return word[count:]
