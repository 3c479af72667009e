"""Terminals and pages that show a thread now.

1. A terminal shows the thread that it followed last, until its window is closed, or, if it is not held open, until the
   stream ends.
2. A page, or another client over TCP, shows a thread as long as it follows it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class Presence:
    """The windows of a server and the threads that they show."""

    __slots__ = ("_held", "_pages", "_shown", "_streams")

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._streams: Counter[str] = Counter()  # of windows
        self._shown: dict[str, str] = {}  # the thread of each window
        self._pages: Counter[str] = Counter()  # streams of other clients, by thread

    def __repr__(self) -> str:
        return f"Presence({self.count()})"

    def count(self) -> dict[str, int]:
        """Return the number of terminals and pages that show each thread."""
        return dict(Counter(self._shown.values()) + self._pages)

    @contextmanager
    def hold(self, window: str) -> Iterator[None]:
        """Count a window until it is closed."""
        self._held.add(window)
        try:
            yield
        finally:
            self._held.discard(window)
            self._forget(window)

    @contextmanager
    def follow(self, threads: Iterable[str], window: str | None) -> Iterator[None]:
        """Count a stream of threads, of a window or of another client."""
        names = list(threads)
        if window is None:
            self._pages.update(names)
        else:
            self._streams[window] += 1
            self._shown.update((window, name) for name in names)
        try:
            yield
        finally:
            if window is None:
                self._pages.subtract(names)
                self._pages = +self._pages
            else:
                self._streams[window] -= 1
                self._forget(window)

    def _forget(self, window: str) -> None:
        if window not in self._held and self._streams[window] <= 0:
            self._streams.pop(window, None)
            self._shown.pop(window, None)
