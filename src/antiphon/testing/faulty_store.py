"""A store that fails when it is told to, to see what others make of it."""

from collections.abc import Callable, Sequence

from antiphon.runtime.errors import StoreError
from antiphon.runtime.records import Commit, Entry, Letter, Saved, Summary, Task
from antiphon.runtime.store import Store


class FaultyStore:
    """Passes calls on to another store, and raises instead where `fails` says so of their number, from 1 on."""

    def __init__(self, inner: Store, fails: Callable[[int], bool]) -> None:
        self._inner, self._fails = inner, fails
        self.calls: list[str] = []  # the names of all calls, those that failed included

    def cure(self) -> None:
        """Fail no more."""
        self._fails = lambda number: False

    @property
    def is_swift(self) -> bool:
        """As the other store is."""
        return self._inner.is_swift

    async def open(self) -> int:
        """Take ownership."""
        self._count("open")
        return await self._inner.open()

    async def close(self) -> None:
        """Give ownership up."""
        self._count("close")
        await self._inner.close()

    async def post(self, letters: Sequence[Letter]) -> list[bool]:
        """Put letters into inboxes."""
        self._count("post")
        return await self._inner.post(letters)

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Make all commits."""
        self._count("commit")
        await self._inner.commit(commits, written)

    async def load(self, root: str) -> Saved | None:
        """A tree."""
        self._count("load")
        return await self._inner.load(root)

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """The journal after a sequence number."""
        self._count("entries")
        return await self._inner.entries(root, after, limit)

    async def waiting(self) -> list[tuple[str, int]]:
        """Which trees have letters."""
        self._count("waiting")
        return await self._inner.waiting()

    async def running(self) -> list[Task]:
        """The tasks that were running."""
        self._count("running")
        return await self._inner.running()

    async def roots(self, after: str = "", limit: int = 1000) -> list[Summary]:
        """The trees there are."""
        self._count("roots")
        return await self._inner.roots(after, limit)

    async def applied(self, root: str, letter: str) -> int | None:
        """The sequence at which a letter was applied."""
        self._count("applied")
        return await self._inner.applied(root, letter)

    def _count(self, name: str) -> None:
        self.calls.append(name)
        if self._fails(len(self.calls)):
            raise StoreError(f"call {len(self.calls)}, {name}, fails as it was told to")
