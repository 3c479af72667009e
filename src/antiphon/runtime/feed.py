"""Feeds: the journal of a tree as it grows, for any number of readers.

Recent entries are kept in memory, so readers that keep up cost no query. A reader that has fallen behind reads from
the store, a page at a time, at its own pace. A feed ends with its tree; that of a quarantined tree raises an error.

A watch tells which trees have changed, of all there are. It keeps the ids of so many trees, and no entries; a reader
that is too slow for it is told that it is behind, and reads everything again.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from contextlib import aclosing
from itertools import takewhile

from antiphon.runtime.admission import copy_value
from antiphon.runtime.errors import UnknownRoot
from antiphon.runtime.histories import HistoryIds
from antiphon.runtime.quarantine import QUARANTINED, quarantine_error
from antiphon.runtime.records import Change, Entry, TreeChanges
from antiphon.runtime.store import Store
from antiphon.runtime.wakeup import Broadcast

RECENT = 256  # entries of a tree that are kept in memory
PAGE = 500  # entries read from the store at a time
WATCHED = 1000  # changed trees that a watch keeps for its reader
CHANGES: tuple[Change, ...] = ("step", "changed", "created")  # the greatest last


class _Tail:
    """The latest entries of one tree, and a broadcast to its readers."""

    __slots__ = ("endings", "entries", "is_removed", "published", "readers")

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=RECENT)
        self.published = Broadcast()
        self.readers = 0
        self.endings = 0  # times that the tree has ended or was quarantined
        self.is_removed = False  # the tree was deleted; another one may have its id

    def after(self, seq: int) -> list[Entry] | None:
        """Return the entries after a sequence number, or None if some of them are no longer in memory."""
        entries = self.entries
        if not entries or entries[0].seq > seq + 1:
            return None
        # Scan from the end: a reader that keeps up is missing only the newest entries.
        return list(takewhile(lambda entry: entry.seq > seq, reversed(entries)))[::-1]


class _Watch:
    """Trees that have changed since a reader last asked."""

    __slots__ = ("changes", "published", "roots")

    def __init__(self, roots: Collection[str]) -> None:
        self.roots = frozenset(roots)  # trees of which every step counts
        self.changes = TreeChanges({}, is_behind=True)  # a new reader has read nothing
        self.published = Broadcast()

    def add(self, root: str, change: Change) -> None:
        """Note a change of a tree; if there are too many trees, only that the reader is behind."""
        changed = self.changes.roots
        if change == "step" and root not in self.roots:
            return
        if root not in changed and len(changed) >= WATCHED:
            self.changes = TreeChanges({}, is_behind=True)
        elif not self.changes.is_behind:
            changed[root] = max(change, changed.get(root, change), key=CHANGES.index)
        self.published.notify()


class Feeds:
    """Feeds of all trees."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tails: dict[str, _Tail] = {}
        self._watches: list[_Watch] = []
        self._endings: dict[str, Broadcast] = {}  # of trees whose end is waited for
        self._closed = False
        self._failure: Exception | None = None

    def publish(self, root: str, entries: Sequence[Entry]) -> None:
        """Pass stored entries to the readers of a tree."""
        tail = self._tails.get(root)
        if tail is not None and entries:
            tail.entries.extend(entries)
            tail.published.notify()
        if self._watches and entries:
            change = _change(entries)
            for watch in self._watches:
                watch.add(root, change)

    async def watch(self, roots: Collection[str] = ()) -> AsyncIterator[TreeChanges]:
        """Yield the trees that have changed, until the feeds are closed; first, that the reader is behind."""
        watch = _Watch(roots)
        self._watches.append(watch)
        tails = {root: self._open_tail(root) for root in watch.roots}
        try:
            while not self._closed:
                changes = watch.changes
                if changes.roots or changes.is_behind:
                    watch.changes = TreeChanges({})
                    yield changes
                else:
                    await watch.published.wait()
            if self._failure is not None:
                raise self._failure
        finally:
            self._watches.remove(watch)
            for root, tail in tails.items():
                self._close_tail(root, tail)

    def recent(self, root: str, after: int) -> list[Entry] | None:
        """Return the entries after a step of a tree that is watched or followed, or None if the store must be read."""
        tail = self._tails.get(root)
        entries = None if tail is None else tail.after(after)
        return None if entries is None else [_copy(entry) for entry in entries]

    def _open_tail(self, root: str) -> _Tail:
        tail = self._tails.setdefault(root, _Tail())
        tail.readers += 1
        return tail

    def _close_tail(self, root: str, tail: _Tail) -> None:
        tail.readers -= 1
        if tail.readers == 0 and self._tails.get(root) is tail:
            del self._tails[root]

    async def follow(self, root: str, after: int | str = 0, *, wait_for_release: bool = False) -> AsyncIterator[Entry]:
        """Yield every entry after a sequence number or cursor, once, in order, until the tree has ended.

        Raise `Quarantined` after the last entry of a quarantined tree, unless its release is waited for.
        """
        async with aclosing(self.pages(root, after, wait_for_release=wait_for_release)) as pages:
            async for page in pages:
                for entry in page:
                    yield entry

    async def pages(
        self, root: str, after: int | str = 0, *, wait_for_release: bool = False
    ) -> AsyncGenerator[list[Entry], None]:
        """Yield the same entries as `follow`, in lists of those that are there."""
        if isinstance(after, str):
            ids, last = await self._history(root)
            after = ids.resolve(root, after, last)
        tail = self._open_tail(root)
        endings = -1  # those after which the tree was seen to be active
        try:
            while not (self._closed or tail.is_removed):
                version = tail.published.version
                entries = tail.after(after)
                is_shared = entries is not None
                if entries is None:
                    entries = await self._store.entries(root, after, PAGE)
                if tail.is_removed:
                    break
                if entries:
                    after = entries[-1].seq
                    yield [_copy(entry) for entry in entries] if is_shared else entries
                if len(entries) == PAGE or version != tail.published.version:
                    continue
                if endings != tail.endings:
                    known = tail.endings
                    final = await self._last_step(root, wait_for_release)
                    if final == after:
                        return
                    endings = known if final is None else -1
                # Wait only if nothing was published since this page was read.
                if version == tail.published.version and (is_shared or endings >= 0) and not self._closed:
                    await tail.published.wait()
            if self._failure is not None:
                raise self._failure
            if tail.is_removed:
                raise UnknownRoot(f"{root!r} was deleted after step {after}")
        finally:
            self._close_tail(root, tail)

    async def _last_step(self, root: str, wait_for_release: bool) -> int | None:
        """Return the last step of a tree that has ended, or None of one that may continue."""
        summary = await self._store.summary(root)
        if summary is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        if summary.status == QUARANTINED and not wait_for_release:
            saved = await self._store.load(root)
            if saved is not None and saved.status == QUARANTINED:
                raise quarantine_error(saved)
        return None if summary.status in ("active", QUARANTINED) else summary.seq

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
        """Wake everything that waits for a tree or follows it: it has ended, was quarantined or was released."""
        if root in self._endings:
            self._endings.pop(root).notify()
        tail = self._tails.get(root)
        if tail is not None:
            tail.endings += 1
            tail.published.notify()
        for watch in self._watches:
            watch.add(root, "changed")

    def remove(self, root: str) -> None:
        """End the feeds of a tree that was deleted, with an error; wake everything that waits for it."""
        tail = self._tails.pop(root, None)
        if tail is not None:
            tail.is_removed = True
            tail.published.notify()
        self.end(root)

    def fail(self, error: Exception) -> None:
        """End all feeds with an error."""
        self._failure = error
        self.close()

    def close(self) -> None:
        """End all feeds."""
        self._closed = True
        for tail in self._tails.values():
            tail.published.notify()
        for watch in self._watches:
            watch.published.notify()
        for root in list(self._endings):
            self.end(root)


def _change(entries: Sequence[Entry]) -> Change:
    """Return the greatest change that some steps are for those who list trees."""
    if entries[0].seq == 1:
        return "created"
    return "changed" if any(_concerns_root(entry) for entry in entries) else "step"


def _concerns_root(entry: Entry) -> bool:
    """Return whether the root took the letter or emitted an event, or the letter came from outside."""
    return not entry.to or entry.letter is not None or any(not emitted["from"] for emitted in entry.emitted)


def _copy(entry: Entry) -> Entry:
    """Return an entry for one reader: the values of the original are also in the tree."""
    root, seq, at, to, event, letter, value, status, emitted, *more = entry  # `_replace` takes three times as long
    events = tuple([copy_value(inner) for inner in emitted])
    return Entry(root, seq, at, to, copy_value(event), letter, copy_value(value), status, events, *more)
