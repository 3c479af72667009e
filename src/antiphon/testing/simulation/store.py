"""Store that is slow, fails, and whose owner may die before and after each call."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from antiphon.runtime.errors import StoreError
from antiphon.runtime.index.rows import TreeIndex
from antiphon.runtime.records import Commit, Entry, Incident, Letter, Posting, Receipt, Saved, Task, TreeSummary
from antiphon.runtime.store import Store
from antiphon.testing.simulation.processes import Process

T = TypeVar("T")
INLINE_COMMITS = 5  # so many commits are inline, then so many are not


class StoreObserver(Protocol):
    """Decides about faults of the store, and is told of its changes."""

    def store_fails(self, name: str) -> bool:
        """Return whether this call fails."""
        ...

    def answer_is_lost(self, name: str) -> bool:
        """Return whether this call raises although it was made."""
        ...

    def store_delay_s(self) -> float:
        """Return how long this call takes."""
        ...

    def on_commit(self, commits: Sequence[Commit]) -> None:
        """Handle commits that were stored."""
        ...

    def on_correction(self, lead: int) -> None:
        """Handle that all waiting letters were moved back."""
        ...

    def on_post(self, letters: Sequence[Letter]) -> None:
        """Handle letters that were stored."""
        ...


class FaultyStore:
    """Access of one process to a store: one call at a time, as on the thread of a real store."""

    def __init__(self, inner: Store, process: Process, observer: StoreObserver) -> None:
        self._inner = inner
        self._process = process
        self._observer = observer
        self._lock = asyncio.Lock()
        self._commits = 0

    @property
    def commits_inline(self) -> bool:
        """True for some commits, then False for some: a disk may be fast for a while."""
        return self._commits // INLINE_COMMITS % 2 == 1

    @property
    def unclean_starts(self) -> int:
        """Number of boots in a row whose predecessor did not close the store."""
        return self._inner.unclean_starts

    @property
    def index(self) -> TreeIndex:
        """The index of the other store."""
        return self._inner.index

    async def open(self) -> int:
        """Take ownership."""
        return await self._do("open", self._inner.open)

    async def close(self) -> None:
        """Release ownership; a process that dies does not do that."""
        await self._do("close", self._inner.close)

    async def post(self, letters: Sequence[Letter], tenure: int = 0) -> list[Posting]:
        """Put letters into inboxes."""

        async def post() -> list[Posting]:
            results = await self._inner.post(letters, tenure)
            self._observer.on_post(
                [letter for letter, is_new in zip(letters, results, strict=True) if is_new == "accepted"]
            )
            self._lose_answer("post")
            return results

        return await self._do("post", post)

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Make all commits."""
        self._commits += 1

        async def commit() -> None:
            await self._inner.commit(commits)
            self._observer.on_commit(commits)
            self._lose_answer("commit")
            if written is not None:
                written()

        await self._do("commit", commit)

    async def load(self, root: str, seq: int | None = None) -> Saved | None:
        """Load a tree."""
        return await self._do("load", lambda: self._inner.load(root, seq))

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """Read the journal after a sequence number."""
        return await self._do("entries", lambda: self._inner.entries(root, after, limit))

    async def correct_times(self, now: int) -> int:
        """Move letters from after `now`."""

        async def correct() -> int:
            lead = await self._inner.correct_times(now)
            self._observer.on_correction(lead)
            return lead

        return await self._do("correct_times", correct)

    async def due_times(self) -> list[tuple[str, int]]:
        """List the trees that have letters."""
        return await self._do("due_times", self._inner.due_times)

    async def running_tasks(self) -> list[Task]:
        """List the running tasks."""
        return await self._do("running_tasks", self._inner.running_tasks)

    async def roots(self, after: str = "", limit: int = 1000) -> list[TreeSummary]:
        """List the trees."""
        return await self._do("roots", lambda: self._inner.roots(after, limit))

    async def outcome(self, root: str, letter: str) -> Receipt | None:
        """Return the outcome of a letter."""
        return await self._do("outcome", lambda: self._inner.outcome(root, letter))

    async def mark(self, root: str) -> int | None:
        """Return the mark of the latest commit of a tree."""
        return await self._do("mark", lambda: self._inner.mark(root))

    async def summary(self, root: str) -> TreeSummary | None:
        """Return the row of a tree in the list."""
        return await self._do("summary", lambda: self._inner.summary(root))

    async def history(self, root: str) -> tuple[str, int]:
        """Return the history of a tree, and its last step."""
        return await self._do("history", lambda: self._inner.history(root))

    async def delete(self, root: str, tenure: int = 0) -> None:
        """Delete a tree."""

        async def delete() -> None:
            await self._inner.delete(root, tenure)
            self._lose_answer("delete")

        await self._do("delete", delete)

    async def dead_letters(self, root: str) -> list[tuple[Letter, str]]:
        """Return the dead letters of a tree."""
        return await self._do("dead_letters", lambda: self._inner.dead_letters(root))

    async def record(self, incidents: Sequence[Incident]) -> None:
        """Store incidents."""
        await self._do("record", lambda: self._inner.record(incidents))

    async def incidents(self, root: str) -> list[Incident]:
        """Return the incidents of a tree."""
        return await self._do("incidents", lambda: self._inner.incidents(root))

    async def _do(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        async with self._lock:
            await self._delay()
            await self._process.pause(f"store before {name}")
            if self._observer.store_fails(name):
                raise StoreError(f"{name} failed: a fault of the simulation")
            result = await work()
            await self._process.pause(f"store after {name}")
        await self._delay()
        return result

    def _lose_answer(self, name: str) -> None:
        if self._observer.answer_is_lost(name):
            raise StoreError(f"{name} was made, but its answer is lost: a fault of the simulation")

    async def _delay(self) -> None:
        delay_s = self._observer.store_delay_s()
        if delay_s > 0:
            await asyncio.sleep(delay_s)
