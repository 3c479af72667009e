"""Rows of a terminal after its width has changed.

Most terminals break drawn rows again when they become narrower: what took one row then takes several. Those that cut
rows instead are known by their environment.
"""

import os
from collections.abc import Iterable, Mapping

from antiphon.cli.render.text_width import width

CUTTING = ("linux", "screen")  # beginnings of TERM


def is_reflowing(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether the terminal breaks rows again when its width changes."""
    if "TMUX" in environ:
        return True
    return "XTERM_VERSION" not in environ and "STY" not in environ and not environ.get("TERM", "").startswith(CUTTING)


def count_rows(texts: Iterable[str], columns: int) -> int:
    """Return the number of rows that texts take in a terminal of so many columns."""
    return sum(_rows(text, columns) for text in texts)


def _rows(text: str, columns: int) -> int:
    if text.isascii():
        return max(1, -(-len(text) // columns))
    rows = 1
    cells = 0
    for character in text:
        size = width(character)
        if cells + size > columns:  # a wide character is never broken
            rows += 1
            cells = 0
        cells += size
    return rows
