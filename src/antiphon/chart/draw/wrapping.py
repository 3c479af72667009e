"""Long rows in several lines."""

WIDE_FROM = 0x1100  # characters from here on, Hangul and CJK among them, are about two cells wide
WIDE_UNTIL = 0x1FFFF
NARROW = range(0x1E00, 0x2E80)  # Latin additions, punctuation, arrows and other symbols
INDENT = "    "


def cells(text: str) -> int:
    """Return the width of a text in characters of a monospaced font."""
    return sum(2 if WIDE_FROM <= ord(sign) <= WIDE_UNTIL and ord(sign) not in NARROW else 1 for sign in text)


def wrap(text: str, width: int) -> list[str]:
    """Return a text in lines of at most `width` cells, indented from the second on; a longer word stays whole."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line.strip() else f"{line}{word}"
        if line.strip() and cells(joined) > width:
            lines.append(line)
            line = f"{INDENT}{word}"
        else:
            line = joined
    return [*lines, line]
