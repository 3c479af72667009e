"""Feeds: the journal of a tree as it grows, for any number of readers.

Recent entries are kept in memory, so readers that keep up cost no query. A reader that has fallen behind reads from
the store, a page at a time, at its own pace.
"""

from collections import deque
from collections.abc import AsyncIterator, Sequence
from itertools import takewhile

from antiphon.runtime.admission import copy_value
from antiphon.runtime.histories import HistoryIds
from antiphon.runtime.records import Entry
from antiphon.runtime.store import Store
from antiphon.runtime.wakeup import Broadcast

RECENT = 256  # entries of a tree that are kept in memory
PAGE = 500  # entries read from the store at a time


class _Tail:
    """The latest entries of one tree, and a broadcast to its readers."""

    __slots__ = ("entries", "published", "readers")

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=RECENT)
        self.published = Broadcast()
        self.readers = 0

    def after(self, seq: int) -> list[Entry] | None:
        """Return the entries after a sequence number, or None if some of them are no longer in memory."""
        entries = self.entries
        if not entries or entries[0].seq > seq + 1:
            return None
        # Scan from the end: a reader that keeps up is missing only the newest entries.
        return list(takewhile(lambda entry: entry.seq > seq, reversed(entries)))[::-1]


class Feeds:
    """Feeds of all trees."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tails: dict[str, _Tail] = {}
        self._endings: dict[str, Broadcast] = {}  # of trees whose end is waited for
        self._closed = False
        self._failure: Exception | None = None

    def publish(self, root: str, entries: Sequence[Entry]) -> None:
        """Pass stored entries to the readers of a tree."""
        tail = self._tails.get(root)
        if tail is not None and entries:
            tail.entries.extend(entries)
            tail.published.notify()

    async def follow(self, root: str, after: int | str = 0) -> AsyncIterator[Entry]:
        """Yield every entry after a sequence number or cursor, once, in order, until the feeds are closed."""
        if isinstance(after, str):
            ids, last = await self._history(root)
            after = ids.resolve(root, after, last)
        tail = self._tails.setdefault(root, _Tail())
        tail.readers += 1
        try:
            while not self._closed:
                version = tail.published.version
                entries = tail.after(after)
                is_shared = entries is not None
                if entries is None:
                    entries = await self._store.entries(root, after, PAGE)
                for entry in entries:
                    after = entry.seq
                    yield _copy(entry) if is_shared else entry
                # Wait only if nothing was published since this page was read and no further page follows it.
                if version == tail.published.version and len(entries) < PAGE and not self._closed:
                    await tail.published.wait()
            if self._failure is not None:
                raise self._failure
        finally:
            tail.readers -= 1
            if tail.readers == 0:
                self._tails.pop(root, None)

    def forget(self, root: str) -> None:
        """Let the readers of a tree read from the store: another process has written to its journal."""
        tail = self._tails.get(root)
        if tail is not None:
            tail.entries.clear()
            tail.published.notify()

    async def cursor(self, root: str, seq: int | None = None) -> str:
        """Return the cursor of a step of a tree: the last stored one, or an earlier one."""
        ids, last = await self._history(root)
        return ids.cursor(last if seq is None else seq)

    async def _history(self, root: str) -> tuple[HistoryIds, int]:
        stored, last = await self._store.history(root)
        return HistoryIds(stored), last

    async def wait_for_end(self, root: str) -> None:
        """Wait until a tree may have ended."""
        await self._endings.setdefault(root, Broadcast()).wait()

    def end(self, root: str) -> None:
        """Wake everything that waits for the end of a tree."""
        if root in self._endings:
            self._endings.pop(root).notify()

    def fail(self, error: Exception) -> None:
        """End all feeds with an error."""
        self._failure = error
        self.close()

    def close(self) -> None:
        """End all feeds."""
        self._closed = True
        for tail in self._tails.values():
            tail.published.notify()
        for root in list(self._endings):
            self.end(root)


def _copy(entry: Entry) -> Entry:
    """Return an entry for one reader: the values of the original are also in the tree."""
    root, seq, at, to, event, letter, value, status, emitted, *more = entry  # `_replace` takes three times as long
    events = tuple([copy_value(inner) for inner in emitted])
    return Entry(root, seq, at, to, copy_value(event), letter, copy_value(value), status, events, *more)
