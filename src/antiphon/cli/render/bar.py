"""A bar for bytes that arrive, with the time it has taken: in place on a terminal, now and then elsewhere."""

import sys
import time
from collections.abc import Callable
from types import TracebackType

from antiphon.cli.render.units import size

CELLS = 24


class Bar:
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

    def __enter__(self) -> "Bar":
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
        cells = done * CELLS // total
        return full * cells + empty * (CELLS - cells)
