"""Progress of long work on the standard error: in place on a terminal, now and then elsewhere, never for short work."""

import sys
import time
from collections.abc import Callable
from types import TracebackType

from antiphon.cli.render.units import size

BAR_CELLS = 24
LONG = 10_000  # less than this is done before anybody looks


class Progress:
    """Says how far something has come, as `copying: 40 %`, or as a count where nobody knows of how much."""

    def __init__(self, doing: str) -> None:
        self._doing, self._said = doing, ""
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Take note of how much is done, and of how much; 0 if nobody knows."""
        if total:
            self._show(f"{done * 100 // total // 10 * 10} %" if total >= LONG else "")
        elif done % (10 * LONG) == 0:
            self._show(f"{done:,}")

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._said and self._is_terminal:
            print(file=sys.stderr)

    def _show(self, text: str) -> None:
        if text and text != self._said:
            self._said = text
            begin, end = ("\r", "") if self._is_terminal else ("", "\n")
            print(f"{begin}{self._doing}: {text}", end=end, file=sys.stderr, flush=True)


class ByteProgress:
    """Says how many bytes have come, as `downloading ████░░░░  40 %  37.1 MB of 92.9 MB  3 s`."""

    def __init__(self, doing: str, now: Callable[[], float] = time.monotonic) -> None:
        self._doing, self._now = doing, now
        self._start, self._said = now(), ""
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Take note of how many bytes there are, and of how many."""
        percent = done * 100 // total
        if self._is_terminal:
            self._show(f"{self._drawn(done, total)} {percent:3} %", f"{size(done)} of {size(total)}", "\r", "\x1b[K")
        elif f"{percent // 25 * 25} %" != self._said:
            self._said = f"{percent // 25 * 25} %"
            self._show(self._said, f"of {size(total)}", "", "\n")

    def __enter__(self) -> "ByteProgress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_terminal:
            print(file=sys.stderr)

    def _show(self, part: str, amount: str, begin: str, end: str) -> None:
        line = f"{begin}{self._doing} {part}  {amount}  {self._now() - self._start:.0f} s"
        print(line, end=end, file=sys.stderr, flush=True)

    def _drawn(self, done: int, total: int) -> str:
        full, empty = ("█", "░") if (sys.stderr.encoding or "").lower().startswith("utf") else ("#", ".")
        cells = done * BAR_CELLS // total
        return full * cells + empty * (BAR_CELLS - cells)
