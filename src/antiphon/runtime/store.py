"""Port to a store of letters, journals, tasks and snapshots, and to the projection that fills its index."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from antiphon.runtime.index.rows import IndexChange, TreeIndex
from antiphon.runtime.records import (
    Commit,
    Entry,
    Incident,
    Letter,
    Posting,
    Receipt,
    Saved,
    Task,
    TreeSummary,
)

Json = Mapping[str, Any]


class Store(Protocol):
    """Durable storage with one writer. A method that returns has made its change durable."""

    @property
    def commits_inline(self) -> bool:
        """True if a commit is fast enough to run on the event loop rather than on the writer thread."""
        ...

    @property
    def unclean_starts(self) -> int:
        """Number of boots in a row, this one included, whose predecessor did not close the store."""
        ...

    @property
    def index(self) -> TreeIndex:
        """The rows and texts of its trees."""
        ...

    async def open(self) -> int:
        """Take ownership and return the number of this boot, greater than any before."""
        ...

    async def close(self) -> None:
        """Finish pending work and release ownership."""
        ...

    async def post(self, letters: Sequence[Letter], tenure: int = 0) -> list[Posting]:
        """Put letters into inboxes; refuse all of them if a tree has had a later owner than that of `tenure`.

        A letter whose id was posted or applied before is a duplicate; one whose id is that of a dead letter failed.
        """
        ...

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Make all commits durable at once, or raise and change nothing.

        Where the answer of a commit can be lost, as by a failed flush or over a network, it may also be made and
        raise `StoreError`: `mark` tells.
        `written` may be called on the event loop as soon as only the flush to disk is left.
        """
        ...

    async def load(self, root: str, seq: int | None = None) -> Saved | None:
        """Load a tree, or return None if there is none of that id.

        With a sequence number, load the nearest snapshot at or before that step with which the timers and tasks that
        were open are stored, and the entries from there to it; raise `ValueError` if the tree has no such step.
        """
        ...

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """Read the journal of a tree after a sequence number, oldest first.

        Raise `JournalCompacted` if the entry after it was removed.
        """
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

    async def outcome(self, root: str, letter: str) -> Receipt | None:
        """Return the outcome of a letter that was applied, failed, was stored and rejected, or waits; else None.

        The runtime adds the id of the history.
        """
        ...

    async def mark(self, root: str) -> int | None:
        """Return the mark of the latest commit of a tree, or None if there is no tree of that id."""
        ...

    async def summary(self, root: str) -> TreeSummary | None:
        """Return the row of a tree in the list, or None if there is no tree of that id."""
        ...

    async def history(self, root: str) -> tuple[str, int]:
        """Return the stored ids of the history of a tree (see `histories.py`), and its last step."""
        ...

    async def delete(self, root: str, tenure: int = 0) -> None:
        """Delete a tree with all that belongs to it: journal, snapshots, letters, tasks, outcomes, incidents.

        Refuse it if the tree has had a later owner than that of `tenure`. The id is free again.
        """
        ...

    async def dead_letters(self, root: str) -> list[tuple[Letter, str]]:
        """Return the letters that no step of a tree could take, with their errors, oldest first."""
        ...

    async def record(self, incidents: Sequence[Incident]) -> None:
        """Store incidents of trees; those of unknown trees are dropped."""
        ...

    async def incidents(self, root: str) -> list[Incident]:
        """Return the incidents of a tree, oldest first."""
        ...


class Projection(Protocol):
    """Pure functions that index the trees of some machines."""

    @property
    def version(self) -> int:
        """Version of the rows: trees with rows of another version are indexed again."""
        ...

    @property
    def machines(self) -> Collection[str]:
        """The ids of the machines whose trees are indexed."""
        ...

    def project(self, before: Json | None, after: Json, entry: Entry) -> IndexChange | None:
        """Return the changes of a step, or None.

        The states have the form of snapshots, with children but without their children; they are not to be changed.
        There is no state before the first step of a tree.
        """
        ...

    def project_journal(self, root: str, input: Any, entries: Sequence[Entry], error: Exception) -> IndexChange:
        """Return the row and texts of a tree that cannot be replayed here, from its input and its journal."""
        ...
