"""Feeds: a tree's journal as it grows, for any number of readers.

Recent entries are kept in memory, so readers who keep up cost no query. One who has fallen behind them
reads from the store, a page at a time, at its own pace.
"""

from collections import deque
from collections.abc import AsyncIterator, Sequence
from itertools import takewhile

from antiphon.runtime.bell import Gong
from antiphon.runtime.records import Entry
from antiphon.runtime.store import Store

RECENT, PAGE = 256, 500


class _Tail:
    """The latest entries of one tree, and who waits for more."""

    __slots__ = ("entries", "gong", "readers")

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=RECENT)
        self.gong = Gong()
        self.readers = 0

    def after(self, seq: int) -> list[Entry] | None:
        """What comes after a sequence number, if this reaches back that far."""
        entries = self.entries
        if not entries or entries[0].seq > seq + 1:
            return None
        # The newest come last, and who keeps up lacks only those: the others are not even looked at.
        return list(takewhile(lambda entry: entry.seq > seq, reversed(entries)))[::-1]


class Feeds:
    """The feeds of all trees."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tails: dict[str, _Tail] = {}
        self._endings: dict[str, Gong] = {}  # of trees for whose end somebody waits
        self._closed = False

    def publish(self, root: str, entries: Sequence[Entry]) -> None:
        """Show entries that are stored to who follows."""
        tail = self._tails.get(root)
        if tail is not None and entries:
            tail.entries.extend(entries)
            tail.gong.strike()

    async def follow(self, root: str, after: int = 0) -> AsyncIterator[Entry]:
        """Every entry after a sequence number, once, in order."""
        tail = self._tails.setdefault(root, _Tail())
        tail.readers += 1
        try:
            while not self._closed:
                strokes = tail.gong.strokes
                found = tail.after(after)
                if found is None:
                    found = await self._store.entries(root, after, PAGE)
                for entry in found:
                    after = entry.seq
                    yield entry
                # Nothing was published meanwhile, so whoever has seen this page, or nothing, has seen it all.
                if strokes == tail.gong.strokes and len(found) < PAGE and not self._closed:
                    await tail.gong.wait()
        finally:
            tail.readers -= 1
            if tail.readers == 0:
                self._tails.pop(root, None)

    async def ending(self, root: str) -> None:
        """Wait until a tree may have come to its end."""
        await self._endings.setdefault(root, Gong()).wait()

    def end(self, root: str) -> None:
        """Tell who waits for it that a tree has come to its end."""
        if root in self._endings:
            self._endings.pop(root).strike()

    def close(self) -> None:
        """End all feeds."""
        self._closed = True
        for tail in self._tails.values():
            tail.gong.strike()
        for root in list(self._endings):
            self.end(root)
