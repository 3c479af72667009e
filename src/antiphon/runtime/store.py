"""The port to whatever keeps letters, journals, tasks and snapshots."""

from collections.abc import Callable, Sequence
from typing import Protocol

from antiphon.runtime.records import Commit, Entry, Letter, Saved, Summary, Task


class Store(Protocol):
    """One writer's view of the store. Every method that returns has made its change durable."""

    @property
    def is_swift(self) -> bool:
        """Whether commits are made on the spot now, because asking somebody else to make them would take longer."""
        ...

    async def open(self) -> int:
        """Take ownership and give the number of this boot, greater than any before."""
        ...

    async def close(self) -> None:
        """Finish what was begun and give ownership up."""
        ...

    async def post(self, letters: Sequence[Letter]) -> list[bool]:
        """Put letters into inboxes; false for one whose id was posted or applied before."""
        ...

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Make all commits durable at once, or raise and change nothing.

        `written` may be called, on the event loop, as soon as nothing but the disk is waited for.
        """
        ...

    async def load(self, root: str) -> Saved | None:
        """A tree, if there is one of that id."""
        ...

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """The journal of a tree after a sequence number, oldest first."""
        ...

    async def waiting(self) -> list[tuple[str, int]]:
        """Which trees have letters, and when the first of them is due."""
        ...

    async def running(self) -> list[Task]:
        """The tasks that were running when they were last heard of."""
        ...

    async def roots(self, after: str = "", limit: int = 1000) -> list[Summary]:
        """The trees there are, by id."""
        ...

    async def applied(self, root: str, letter: str) -> int | None:
        """The sequence at which a letter was applied, if it was."""
        ...
