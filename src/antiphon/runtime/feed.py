"""Feeds: a tree's journal as it grows, for any number of readers.

Recent entries are kept in memory, so readers who keep up cost no query. One who has fallen behind them
reads from the store, a page at a time, at its own pace.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from itertools import takewhile

from antiphon.runtime.records import Entry
from antiphon.runtime.store import Store

RECENT, PAGE = 256, 500


class _Tail:
    """The latest entries of one tree, and who waits for more."""

    __slots__ = ("entries", "readers", "wake")

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=RECENT)
        self.wake: asyncio.Event = asyncio.Event()
        self.readers = 0


class Feeds:
    """The feeds of all trees."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tails: dict[str, _Tail] = {}
        self._closed = False

    def publish(self, root: str, entries: Sequence[Entry]) -> None:
        """Show entries that are stored to who follows."""
        tail = self._tails.get(root)
        if tail is not None and entries:
            tail.entries.extend(entries)
            self._rouse(tail)

    async def follow(self, root: str, after: int = 0) -> AsyncIterator[Entry]:
        """Every entry after a sequence number, once, in order."""
        tail = self._tails.setdefault(root, _Tail())
        tail.readers += 1
        try:
            while not self._closed:
                wake = tail.wake
                found = await self._next(tail, root, after)
                for entry in found:
                    after = entry.seq
                    yield entry
                if not found and wake is tail.wake and not self._closed:
                    await wake.wait()
        finally:
            tail.readers -= 1
            if tail.readers == 0:
                self._tails.pop(root, None)

    async def _next(self, tail: _Tail, root: str, after: int) -> list[Entry]:
        """What comes after, from memory if it reaches back that far, else one page of what is stored."""
        if tail.entries and tail.entries[0].seq <= after + 1:
            # The newest come last, and who keeps up lacks only those: the others are not even looked at.
            new = list(takewhile(lambda entry: entry.seq > after, reversed(tail.entries)))
            return new[::-1]
        return await self._store.entries(root, after, PAGE)

    def close(self) -> None:
        """End all feeds."""
        self._closed = True
        for tail in self._tails.values():
            self._rouse(tail)

    def _rouse(self, tail: _Tail) -> None:
        woken, tail.wake = tail.wake, asyncio.Event()
        woken.set()
