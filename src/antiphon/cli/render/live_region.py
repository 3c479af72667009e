"""A region at the end of the screen that is drawn again in place.

1. The cursor stays visible, so that nothing has to be restored when the process is killed.
2. A row is overwritten, and not erased first, so that nothing flickers.
3. After the terminal has become narrower, the rows that its lines were broken into are overwritten too.
"""

import os
from collections.abc import Mapping

from rich.cells import cell_len
from rich.console import Console
from rich.segment import ControlType, Segment, Segments

from antiphon.cli.render.reflow import count_rows, is_reflowing

ERASE_LINE = Segment("\x1b[K", None, [(ControlType.ERASE_IN_LINE, 0)])
ERASE_BELOW = Segment("\x1b[J", None, [(ControlType.CLEAR,)])


class LiveRegion:
    """Lines that are replaced by the next ones; other output is printed after `clear`."""

    def __init__(self, console: Console, environ: Mapping[str, str] = os.environ) -> None:
        self._console = console
        self._is_reflowing = is_reflowing(environ)
        self._widths: list[int] = []  # of the lines that are drawn
        self._columns = 0  # of the screen when they were drawn

    def draw(self, lines: list[list[Segment]]) -> None:
        """Draw lines in place of the last ones."""
        segments = [self._to_start()]
        for number, line in enumerate(lines):
            segments += [*line, ERASE_LINE, *([Segment.line()] if number < len(lines) - 1 else [])]
        self._widths = [sum(cell_len(segment.text) for segment in line) for line in lines]
        self._columns = self._console.width
        self._console.print(Segments([*segments, ERASE_BELOW]), end="", crop=False, soft_wrap=True)

    def clear(self) -> None:
        """Erase the region; what is printed next takes its place."""
        if self._widths:
            self.draw([])

    def _to_start(self) -> Segment:
        """Return the movement to the start of the region."""
        columns = max(1, self._console.width)
        rows = count_rows(self._widths, columns, is_reflowed=self._is_reflowing and columns < self._columns)
        up = f"\x1b[{rows - 1}A" if rows > 1 else ""
        return Segment(f"\r{up}", None, [(ControlType.CARRIAGE_RETURN,)])
