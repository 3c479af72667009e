"""Width of text in terminal cells, and removal of control characters."""

from collections.abc import Sequence
from unicodedata import category, combining, east_asian_width

ELLIPSIS = "…"
# Newline, tab, and the joiners within one character.
JOINERS = "\u200c\u200d"
ALLOWED = f"\n\t{JOINERS}"

# Letters, marks and symbols that take no ink: fillers, joiners, variation selectors, the empty Braille pattern.
BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)


def sanitize_line(text: str) -> str:
    """Return the text as one line, with control characters and separators replaced by spaces; joiners are kept."""
    return "".join(
        " " if category(character)[0] in "CZ" and character not in JOINERS else character for character in text
    )


def sanitize_lines(text: str) -> str:
    """Return the text without control characters, except newlines and tabs."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character for character in text if category(character)[0] != "C" or character in ALLOWED)


def escape_invisible(text: str) -> str:
    """Return the text as one line, with invisible characters written as `‹U+001B›`."""
    return "".join(_visible(character) for character in text)


def escape_controls(text: str) -> str:
    """Return the text with control characters written as `‹U+001B›`, except newlines, tabs and joiners."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(
        f"‹U+{ord(character):04X}›" if category(character)[0] == "C" and character not in ALLOWED else character
        for character in text
    )


def _visible(character: str) -> str:
    kind = category(character)[0]
    is_invisible = kind == "C" or (kind == "Z" and character != " ") or character in BLANK
    return f"‹U+{ord(character):04X}›" if is_invisible else character


def width(text: str) -> int:
    """Return the width of a text in cells."""
    if text.isascii():
        return len(text)
    return sum(
        0 if combining(character) or character in JOINERS else 2 if east_asian_width(character) in "WF" else 1
        for character in text
    )


def clip(text: str, cells: int) -> str:
    """Shorten a text to `cells`, with an ellipsis if it does not fit."""
    if width(text) <= cells:
        return text
    start = text[: max(0, cells)]
    while start and width(start) > cells - 1:
        start = start[:-1]
    return start + ELLIPSIS if cells > 0 else ""


def pad(text: str, cells: int) -> str:
    """Clip or pad a text to exactly `cells`."""
    clipped = clip(text, cells)
    return clipped + " " * (cells - width(clipped))


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Format rows as columns that are as wide as their widest cells."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell + " " * (cells - width(cell)) for cell, cells in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def break_row(row: str, cells: int) -> list[str]:
    """Break a row of a list between words where it is wider than `cells`; further lines are indented."""
    row = row.rstrip()
    start = len(row) - len(row.lstrip())
    indent = " " * (start + 2)
    lines: list[str] = []
    while width(row) > cells:
        gaps = [place for place in range(start + 1, len(row)) if row[place] == " "]
        place = max((gap for gap in gaps if width(row[:gap]) <= cells), default=min(gaps, default=0))
        if not place:
            break  # a single word, which the terminal breaks
        lines.append(row[:place].rstrip())
        row = indent + row[place:].lstrip()
        start = len(indent)
    return [*lines, row]


def wrap(text: str, cells: int) -> list[str]:
    """Wrap a text to lines of `cells`, between words where possible."""
    lines: list[str] = []
    line = ""
    for word in sanitize_line(text).split():
        while width(word) > cells:
            room = max(1, cells)
            lines.extend([line] if line else [])
            line = ""
            head = _fitting_prefix(word, room)
            lines.append(head)
            word = word[len(head) :]
        if line and width(line) + 1 + width(word) > cells:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line] if line else lines


def _fitting_prefix(word: str, cells: int) -> str:
    """Return the longest prefix that fits, at least one character."""
    count = 1
    while count < len(word) and width(word[: count + 1]) <= cells:
        count += 1
    return word[:count]
