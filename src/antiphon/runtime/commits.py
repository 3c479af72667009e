"""Commits whose outcome is always found out, also if their answer was lost."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count

from antiphon.runtime.errors import Conflict, NotOwner, StoreError, StoreStopped, Superseded, Unstorable
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
        # Called if a commit is refused because of a later tenure: gives the tree up.
        self.on_superseded: Callable[[str, int], None] = ownership.drop
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
            if not await self._are_stored(commits, error):
                raise

    async def make(self, commit: Commit) -> None:
        """Give a commit a mark and a tenure, make it durable and report its entries, or raise `NotOwner`."""
        root = commit.root
        tenure = self.tenure_of(root)
        try:
            await self.commit([commit._replace(mark=self.new_mark(), tenure=tenure)])
        except Superseded as error:
            self.on_superseded(root, tenure)
            raise NotOwner(str(error)) from error
        if commit.entries:
            self.on_stored(root, commit.entries)

    async def delete(self, root: str) -> None:
        """Delete a tree that is run here, or raise and change nothing."""
        tenure = self.tenure_of(root)
        try:
            await self._store.delete(root, tenure)
        except Superseded as error:
            self.on_superseded(root, tenure)
            raise NotOwner(str(error)) from error
        except StoreStopped:
            raise
        except StoreError as error:
            if await self._mark(root, error) is not None:
                raise

    def tenure_of(self, root: str) -> int:
        """Return the tenure of a tree that is run here; raise `NotOwner` if it is not."""
        tenure = self._ownership.tenure(root)
        if tenure is None:
            raise NotOwner(f"{root!r} is not run by this process; ask for its owner, and send the letter there")
        return tenure

    async def _are_stored(self, commits: Sequence[Commit], error: StoreError) -> bool:
        """Return whether commits were made, all of them together.

        The latest commit of a tree is another one if the tree has a new owner meanwhile, so all trees are looked at.
        """
        for commit in commits:
            if await self._mark(commit.root, error) == commit.mark:
                return True
        return False

    async def _mark(self, root: str, error: StoreError) -> int | None:
        """Return the mark of the latest commit of a tree."""
        while True:
            try:
                return await self._store.mark(root)
            except StoreError:
                if self.is_closing:
                    raise error from None
            await asyncio.sleep(RETRY_MS / 1000)
