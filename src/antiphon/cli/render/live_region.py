"""A region at the end of the screen that is drawn again in place.

1. The cursor stays visible, so that nothing has to be restored when the process is killed.
2. Rows are erased and drawn in one write, so that nothing flickers. They are erased from their start: blank cells that
   a longer text has left would be broken into rows, too.
3. A terminal breaks drawn rows again when its width changes: the rows that they take then are counted.
"""

import os
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.segment import ControlType, Segment, Segments

from antiphon.cli.render.reflow import count_rows, is_reflowing

ERASE_LINE = "\x1b[K"
NARROWEST = 20
SETTLING_S = 0.3  # without drawing after the width has changed: a terminal may change it again before it says so
Lines = Sequence[list[Segment]]


class LiveRegion:
    """Lines that are replaced by the next ones; other output is printed after `clear`."""

    def __init__(self, console: Console, environ: Mapping[str, str] = os.environ) -> None:
        self._console = console
        self._is_reflowing = is_reflowing(environ)
        self._texts: list[str] = []  # of the lines that are drawn
        self._columns = 0  # of the screen when they were drawn
        self._seen_columns = console.width
        self._settled_at = 0.0

    def is_settled(self, now: float) -> bool:
        """Return whether the width has been the same for some time; else other rows than its own may be erased."""
        if self._console.width != self._seen_columns:
            self._seen_columns = self._console.width
            self._settled_at = now + SETTLING_S
        return now >= self._settled_at

    def draw(self, lines: Lines, above: Lines = ()) -> None:
        """Draw lines in place of the last ones; those `above` stay."""
        columns = max(1, self._console.width)
        segments = [self._erase(columns)]
        for line in above:
            segments += [*line, Segment.line()]
        for number, line in enumerate(lines):
            segments += [*([Segment.line()] if number else []), *line]
        self._texts = ["".join(segment.text for segment in line) for line in lines]
        self._columns = columns
        self._console.print(Segments(segments), end="", crop=False, soft_wrap=True)

    def clear(self) -> None:
        """Erase the region; what is printed next takes its place."""
        if self._texts:
            self.draw([])

    def _erase(self, columns: int) -> Segment:
        """Return the sequence that erases the rows of the region, with the cursor at its start then.

        No sequence erases several rows at once: tmux keeps what it erases so from the top of the screen.
        """
        rows = count_rows(self._texts, columns if self._is_reflowing else max(1, self._columns)) if self._texts else 1
        up = f"\x1b[{rows - 1}A" if rows > 1 else ""
        erasing = "\x1b[B".join([ERASE_LINE] * rows)
        return Segment(f"\r{up}{erasing}{up}", None, [(ControlType.CARRIAGE_RETURN,)])


def fold_lines(lines: Lines, columns: int) -> Lines:
    """Return lines with those that are wider than the screen cut into several."""
    folded: list[list[Segment]] = []
    for line in lines:
        cells = sum(segment.cell_length for segment in line)
        folded += Segment.divide(line, [*range(columns, cells, columns), cells]) if cells > columns else [line]
    return folded


def last_lines(lines: Lines, rows: int, columns: int) -> Lines:
    """Return the last lines that take at most so many rows, at least one line.

    Rows that leave the screen cannot be erased. So they are counted for a terminal of a quarter of these columns: it
    may become that narrow before they are drawn again.
    """
    narrow = max(NARROWEST, columns // 4)
    start = len(lines)
    taken = 0
    while start:
        taken += count_rows(["".join(segment.text for segment in lines[start - 1])], narrow)
        if taken > rows and start < len(lines):
            break
        start -= 1
    return lines[start:]
