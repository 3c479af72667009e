"""The finished lines of a paragraph that grows, which can be printed for good.

1. Words that follow do not change a line if no mark before its end is open: emphasis, code, a link.
2. The text is cut between two words, at the end of a drawn line; the rest is drawn as a paragraph, too.
"""

import re
from bisect import bisect_right
from collections.abc import Callable

from antiphon.cli.render.live_region import Lines
from antiphon.cli.render.markdown_stream import markdown_parser

KEPT = 2  # lines that are not cut off
TRIED = 3  # ends of lines
PARAGRAPH = ["paragraph_open", "inline", "paragraph_close"]
BLANK = re.compile(r"\s+")
# Marks that a later one may close, and those of a table.
OPEN = re.compile(r"`|\||~~|\*(?=\S)|(?<!\w)_(?=\S)|\[[^\]]*\Z")
# Words that would begin another block at the start of a line.
BEGINS_BLOCK = re.compile(r"[-+*#>=_~`|:]|\d{1,9}[.)]")


def finished_lines(text: str, render: Callable[[str], Lines]) -> tuple[int, Lines]:
    """Return the finished lines of a paragraph, and the length of their text; no lines for other blocks."""
    lines = render(text)
    most = len(lines) - KEPT
    if most < 1 or not _is_closed_paragraph(text, is_whole=True):
        return 0, []
    ends = [blank.end() for blank in BLANK.finditer(text)]
    for count in range(most, max(0, most - TRIED), -1):
        place = bisect_right(ends, count, key=lambda end: len(render(text[:end])))
        end = ends[place - 1] if place else 0
        is_line_end = bool(end) and _texts(render(text[:end])) == _texts(lines[:count])
        if is_line_end and not BEGINS_BLOCK.match(text, end) and _is_closed_paragraph(text[:end]):
            return end, lines[:count]
    return 0, []


def _is_closed_paragraph(text: str, *, is_whole: bool = False) -> bool:
    """Return whether a text is one paragraph, and, unless it is whole, without open marks."""
    tokens = markdown_parser().parse(text)
    if [token.type for token in tokens] != PARAGRAPH:
        return False
    words = "".join(token.content for token in tokens[1].children or () if token.type == "text")
    return is_whole or not OPEN.search(words)


def _texts(lines: Lines) -> list[str]:
    return ["".join(segment.text for segment in line) for line in lines]
