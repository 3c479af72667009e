"""Pipeline of commits: one on its way to the disk, and perhaps one behind it.

1. Commits become durable one after the other. The second one starts to be written as soon as the first is durable.
2. Writing needs Python's lock, flushing to disk does not. While a commit is written the loop computes nothing, and
   earlier durable commits are acknowledged only afterwards; while the disk flushes, the loop computes.
3. The ready trees are split in two if computing one half hides the flush of the other.
"""

import asyncio
from collections.abc import Callable, Sequence

from antiphon.runtime.commits import Commits
from antiphon.runtime.records import Commit
from antiphon.runtime.wakeup import Broadcast

MAX_COMMITS = 2
MEMORY = 0.8  # weight of earlier measurements in the moving averages


class Pipeline:
    """Stores commits, and decides when to compute and how much."""

    def __init__(self, commits: Commits, wake: Callable[[], None]) -> None:
        self._commits = commits
        self._wake = wake
        self._sizes: list[int] = []  # turns in each commit under way, the oldest first
        self._turn_s = 0.0  # average time to compute a turn
        self._flush_s = 0.0  # average time of a flush to disk
        self._written_at = 0.0
        self._changed = Broadcast()
        self.is_writing = False

    @property
    def is_empty(self) -> bool:
        """True if no commit is under way."""
        return not self._sizes

    def accepts(self, turns: int, ready: int) -> bool:
        """Return whether to start a commit of `turns` turns now, with `ready` trees still to compute.

        Behind another commit only one of about the same size is started: a smaller one waits and grows.
        """
        if not turns or len(self._sizes) == MAX_COMMITS:
            return False
        return not self._sizes or (not ready and 2 * turns >= self._sizes[0])

    def share(self, ready: int) -> int:
        """Return how many of the ready trees to compute at once."""
        # A turn costs about as much again before and after it is computed.
        pays = ready > 1 and not self._sizes and 2 * ready * self._turn_s > self._flush_s
        return (ready + 1) // 2 if pays else ready

    def measure_turns(self, turns: int, took_s: float) -> None:
        """Update the average time to compute a turn."""
        self._turn_s = MEMORY * self._turn_s + (1 - MEMORY) * took_s / turns

    def enter(self, turns: int) -> None:
        """Register the start of a commit of that size; `leave` registers its end."""
        self.is_writing = self.is_writing or not self._sizes
        self._sizes.append(turns)

    def leave(self) -> None:
        """Register the end of the oldest commit."""
        self._sizes.pop(0)
        self.is_writing = bool(self._sizes)
        self._on_change()

    async def commit(self, commits: Sequence[Commit]) -> None:
        """Make commits durable."""
        await self._commits.commit(commits, self._on_written)
        if not self.is_writing:  # a store that commits inline does not report when it has written
            took_s = asyncio.get_running_loop().time() - self._written_at
            self._flush_s = MEMORY * self._flush_s + (1 - MEMORY) * took_s

    async def wait_until_written(self) -> None:
        """Wait until no commit is being written."""
        while self.is_writing:
            await self.wait_for_change()

    async def wait_for_change(self) -> None:
        """Wait until a commit is written or has ended."""
        await self._changed.wait()

    def _on_written(self) -> None:
        self.is_writing = False
        self._written_at = asyncio.get_running_loop().time()
        self._on_change()

    def _on_change(self) -> None:
        self._changed.notify()
        self._wake()
