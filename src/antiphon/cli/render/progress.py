"""Progress of long operations on standard error: updated in place on a terminal, as occasional lines elsewhere."""

import sys
import time
from collections.abc import Callable
from types import TracebackType

from antiphon.cli.render.gate import draw
from antiphon.cli.render.units import format_size

BAR_CELLS = 24
LONG = 10_000  # shorter operations end too soon to be reported


class Progress:
    """Prints progress as `copying: 40 %`, or as a count if the total is unknown."""

    def __init__(self, label: str, long: int | None = None) -> None:
        self._label = label
        self._long = long or LONG  # units from which on the operation is reported
        self._last = ""
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Report progress; a `total` of 0 means unknown."""
        if total:
            self._show(f"{done * 100 // total // 10 * 10} %" if total >= self._long else "")
        elif done % (10 * LONG) == 0:
            self._show(f"{done:,}")

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._last and self._is_terminal:
            draw(sys.stderr, "\n")

    def _show(self, text: str) -> None:
        if text and text != self._last:
            self._last = text
            begin = "\r" if self._is_terminal else ""
            end = "" if self._is_terminal else "\n"
            draw(sys.stderr, f"{begin}{self._label}: {text}{end}")


class ByteProgress:
    """Prints the progress of a download, as `downloading ████░░░░  40 %  37.1 MB of 92.9 MB  3 s`."""

    def __init__(self, label: str, now: Callable[[], float] = time.monotonic) -> None:
        self._label = label
        self._now = now
        self._start = now()
        self._last = ""
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Report the number of bytes received."""
        percent = done * 100 // total
        if self._is_terminal:
            self._show(
                f"{self._bar(done, total)} {percent:3} %",
                f"{format_size(done)} of {format_size(total)}",
                "\r",
                "\x1b[K",
            )
        elif f"{percent // 25 * 25} %" != self._last:
            self._last = f"{percent // 25 * 25} %"
            self._show(self._last, f"of {format_size(total)}", "", "\n")

    def __enter__(self) -> "ByteProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_terminal:
            draw(sys.stderr, "\n")

    def _show(self, part: str, amount: str, begin: str, end: str) -> None:
        line = f"{begin}{self._label} {part}  {amount}  {self._now() - self._start:.0f} s"
        draw(sys.stderr, f"{line}{end}")

    def _bar(self, done: int, total: int) -> str:
        is_unicode = (sys.stderr.encoding or "").lower().startswith("utf")
        full, empty = ("█", "░") if is_unicode else ("#", ".")
        cells = done * BAR_CELLS // total
        return full * cells + empty * (BAR_CELLS - cells)
