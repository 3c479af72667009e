"""A store that is slow, fails, and whose owner may die before and after anything it does."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from antiphon.runtime.errors import StoreError
from antiphon.runtime.records import Commit, Entry, Letter, Saved, Task, TreeSummary
from antiphon.runtime.store import Store
from antiphon.testing.simulation.processes import Process

T = TypeVar("T")
SWIFT_COMMITS = 5  # so many are swift, and so many are not


class Weather(Protocol):
    """What decides how a call of the store goes, and hears of those that changed something."""

    def store_fails(self, name: str) -> bool:
        """Whether this call fails."""
        ...

    def store_delay_s(self) -> float:
        """How long this call takes."""
        ...

    def stored(self, commits: Sequence[Commit]) -> None:
        """These commits are stored now."""
        ...

    def posted(self, letters: Sequence[Letter]) -> None:
        """These letters are stored now."""
        ...


class FaultyStore:
    """One process's way to a store: one call at a time, as the thread of a real store does it."""

    def __init__(self, inner: Store, process: Process, weather: Weather) -> None:
        self._inner, self._process, self._weather = inner, process, weather
        self._turn = asyncio.Lock()
        self._commits = 0

    @property
    def commits_inline(self) -> bool:
        """Now and then: a disk may be quick for a while."""
        return self._commits // SWIFT_COMMITS % 2 == 1

    async def open(self) -> int:
        """Take ownership."""
        return await self._do("open", self._inner.open)

    async def close(self) -> None:
        """Give ownership up; what dies instead does so without it."""
        await self._do("close", self._inner.close)

    async def post(self, letters: Sequence[Letter]) -> list[bool]:
        """Put letters into inboxes."""

        async def post() -> list[bool]:
            found = await self._inner.post(letters)
            self._weather.posted([letter for letter, is_new in zip(letters, found, strict=True) if is_new])
            return found

        return await self._do("post", post)

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Make all commits."""
        self._commits += 1

        async def commit() -> None:
            await self._inner.commit(commits)
            self._weather.stored(commits)
            if written is not None:
                written()

        await self._do("commit", commit)

    async def load(self, root: str) -> Saved | None:
        """A tree."""
        return await self._do("load", lambda: self._inner.load(root))

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """The journal after a sequence number."""
        return await self._do("entries", lambda: self._inner.entries(root, after, limit))

    async def due_times(self) -> list[tuple[str, int]]:
        """Which trees have letters."""
        return await self._do("due_times", self._inner.due_times)

    async def running_tasks(self) -> list[Task]:
        """The tasks that were running."""
        return await self._do("running_tasks", self._inner.running_tasks)

    async def roots(self, after: str = "", limit: int = 1000) -> list[TreeSummary]:
        """The trees there are."""
        return await self._do("roots", lambda: self._inner.roots(after, limit))

    async def applied_seq(self, root: str, letter: str) -> int | None:
        """The sequence at which a letter was applied."""
        return await self._do("applied_seq", lambda: self._inner.applied_seq(root, letter))

    async def _do(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        async with self._turn:
            await self._delay()
            await self._process.pause(f"store before {name}")
            if self._weather.store_fails(name):
                raise StoreError(f"{name} failed, as the simulation has it")
            result = await work()
            await self._process.pause(f"store after {name}")
        await self._delay()
        return result

    async def _delay(self) -> None:
        delay_s = self._weather.store_delay_s()
        if delay_s > 0:
            await asyncio.sleep(delay_s)
