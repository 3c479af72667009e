"""The way to the store: one commit on its way to the disk, and perhaps one behind it.

1. Commits become durable one after the other. The one behind begins to be written the moment the one before is done.
2. Writing needs Python's lock, the disk does not. While a commit is written the loop keeps still, and what was
   made durable before it is told afterwards; while the disk works, the loop computes.
3. What is ready is split in two when computing one half hides the other's way to the disk.
"""

import asyncio
from collections.abc import Callable, Sequence

from antiphon.runtime.bell import Gong
from antiphon.runtime.records import Commit
from antiphon.runtime.store import Store

MOST = 2
MEMORY = 0.8  # how much of what was measured before still counts


class Pipeline:
    """Stores commits, and says when to compute and how much."""

    def __init__(self, store: Store, wake: Callable[[], None]) -> None:
        self._store, self._wake = store, wake
        self._sizes: list[int] = []  # of the commits under way, the first one first
        self._turn_s = self._flush_s = self._written_at = 0.0
        self._gong = Gong()  # struck whenever something has changed
        self.is_writing = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is on its way."""
        return not self._sizes

    def takes(self, works: int, ready: int) -> bool:
        """Whether so much work should go its way now, while so much is ready to be computed.

        Behind another commit only work of about its size: a smaller one had better wait and grow.
        """
        if not works or len(self._sizes) == MOST:
            return False
        return not self._sizes or (not ready and 2 * works >= self._sizes[0])

    def share(self, ready: int) -> int:
        """How many of the trees that are ready should be computed at once."""
        # What a turn costs before and after it is computed is about as much again.
        pays = ready > 1 and not self._sizes and 2 * ready * self._turn_s > self._flush_s
        return (ready + 1) // 2 if pays else ready

    def computed(self, turns: int, took_s: float) -> None:
        """Learn how long so many turns took."""
        self._turn_s = MEMORY * self._turn_s + (1 - MEMORY) * took_s / turns

    def enter(self, works: int) -> None:
        """Work of that size begins its way; `leave` ends it."""
        self.is_writing = self.is_writing or not self._sizes
        self._sizes.append(works)

    def leave(self) -> None:
        """The first work under way has come to its end."""
        self._sizes.pop(0)
        self.is_writing = bool(self._sizes)
        self._change()

    async def commit(self, commits: Sequence[Commit]) -> None:
        """Make commits durable."""
        await self._store.commit(commits, self._written)
        if not self.is_writing:  # a store that commits on the spot does not say when it has written
            took_s = asyncio.get_running_loop().time() - self._written_at
            self._flush_s = MEMORY * self._flush_s + (1 - MEMORY) * took_s

    async def settled(self) -> None:
        """Wait until nothing is being written."""
        while self.is_writing:
            await self.changed()

    async def changed(self) -> None:
        """Wait until something has changed."""
        await self._gong.wait()

    def _written(self) -> None:
        self.is_writing = False
        self._written_at = asyncio.get_running_loop().time()
        self._change()

    def _change(self) -> None:
        self._gong.strike()
        self._wake()
