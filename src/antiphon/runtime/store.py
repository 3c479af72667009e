"""Port to a store of letters, journals, tasks and snapshots."""

from collections.abc import Callable, Sequence
from typing import Protocol

from antiphon.runtime.records import Commit, Entry, Letter, Saved, Task, TreeSummary


class Store(Protocol):
    """Durable storage with one writer. A method that returns has made its change durable."""

    @property
    def commits_inline(self) -> bool:
        """True if a commit is fast enough to run on the event loop rather than on the writer thread."""
        ...

    async def open(self) -> int:
        """Take ownership and return the number of this boot, greater than any before."""
        ...

    async def close(self) -> None:
        """Finish pending work and release ownership."""
        ...

    async def post(self, letters: Sequence[Letter]) -> list[bool]:
        """Put letters into inboxes; False for a letter whose id was posted or applied before."""
        ...

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Make all commits durable at once, or raise and change nothing.

        `written` may be called on the event loop as soon as only the flush to disk is left.
        """
        ...

    async def load(self, root: str) -> Saved | None:
        """Load a tree, or return None if there is none of that id."""
        ...

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """Read the journal of a tree after a sequence number, oldest first."""
        ...

    async def correct_times(self, now: int) -> int:
        """Move waiting letters back if some are from after `now`, keeping their delays; return by how much.

        Their clock was ahead: the latest of them is moved to `now`, and all others by as much.
        """
        ...

    async def due_times(self) -> list[tuple[str, int]]:
        """List the trees that have letters, with the time at which the first of them is due."""
        ...

    async def running_tasks(self) -> list[Task]:
        """List the tasks that are stored as running."""
        ...

    async def roots(self, after: str = "", limit: int = 1000) -> list[TreeSummary]:
        """List trees in the order of their ids."""
        ...

    async def applied_seq(self, root: str, letter: str) -> int | None:
        """Return the sequence number at which a letter was applied, or None if it was not."""
        ...
