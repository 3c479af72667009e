"""Commits whose outcome is always found out, also if their answer was lost."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count

from antiphon.runtime.errors import Conflict, StoreError, StoreStopped, Unstorable
from antiphon.runtime.ownership import Ownership
from antiphon.runtime.records import Commit, Entry
from antiphon.runtime.store import Store

RETRY_MS = 500  # pause after the store has failed
# Errors after which nothing was changed for certain, or after which only a restart can tell.
REFUSALS = (Conflict, Unstorable, StoreStopped)


class Commits:
    """Makes commits; if the store raises although it made one, its mark tells."""

    def __init__(self, store: Store, ownership: Ownership) -> None:
        self._store = store
        self._ownership = ownership
        self._marks = count(1)
        self.is_closing = False  # do not wait for a store that gives no answer
        self.on_stored: Callable[[str, Sequence[Entry]], None] = lambda root, entries: None

    def start(self, boot: int) -> None:
        """Begin to number the commits of a boot."""
        self._marks = count((boot << 32) + 1)

    def new_mark(self) -> int:
        """Return the number of the next commit."""
        return next(self._marks)

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Make commits durable, or raise and change nothing."""
        try:
            await self._store.commit(commits, written)
        except REFUSALS:
            raise
        except StoreError as error:
            if not commits or not await self._is_stored(commits[0], error):
                raise

    async def make(self, commit: Commit) -> None:
        """Give a commit a mark and the tenure of this owner, make it durable, and report its entries."""
        tenure = self._ownership.tenure(commit.root) or 0
        await self.commit([commit._replace(mark=self.new_mark(), tenure=tenure)])
        if commit.entries:
            self.on_stored(commit.root, commit.entries)

    async def _is_stored(self, commit: Commit, error: StoreError) -> bool:
        """Return whether a commit was made; all commits of a call are made together."""
        while True:
            try:
                return await self._store.mark(commit.root) == commit.mark
            except StoreError:
                if self.is_closing:
                    raise error from None
            await asyncio.sleep(RETRY_MS / 1000)
