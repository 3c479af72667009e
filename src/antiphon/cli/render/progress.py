"""Progress of long work on the standard error: in place on a terminal, now and then elsewhere, never for short work."""

import sys
from types import TracebackType

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
