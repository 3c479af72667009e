"""Rows of a terminal after its width has changed.

Most terminals break drawn rows again when they become narrower: what took one row then takes several. Those that cut
rows instead are known by their environment.
"""

import os
from collections.abc import Iterable, Mapping

CUTTING = ("linux", "screen")  # beginnings of TERM


def is_reflowing(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether the terminal breaks rows again when its width changes."""
    if "TMUX" in environ:
        return True
    return "XTERM_VERSION" not in environ and "STY" not in environ and not environ.get("TERM", "").startswith(CUTTING)


def count_rows(widths: Iterable[int], columns: int, *, is_reflowed: bool) -> int:
    """Return the number of rows that drawn rows of these widths take now."""
    return sum(max(1, -(-cells // columns)) if is_reflowed else 1 for cells in widths)
