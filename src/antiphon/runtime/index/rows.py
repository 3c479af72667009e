"""Rows and texts of the index, and the port to read them.

A tree has one row, by which it is listed, and any number of texts, in which it is found. Both are stored in the commit
of the step that changed them.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

Json = Any
MOST_IDS = 1000


class IndexRow(NamedTuple):
    """Row of a tree in lists: labels to select it by, and facts to show."""

    kind: str
    status: str
    owner: str = ""
    archived: bool = False
    facts: Json = None
    summary: Json = None  # further facts; None leaves those of the row before


class IndexText(NamedTuple):
    """Text in which a tree is found; another text of the same key replaces it."""

    key: str
    at: int
    text: str


class IndexChange(NamedTuple):
    """Change of the index by the steps of a tree; with neither row nor texts, only of its time."""

    at: int
    row: IndexRow | None = None
    texts: tuple[IndexText, ...] = ()


class RowFilter(NamedTuple):
    """Labels of the rows to list; None selects all."""

    kind: str | None = None
    statuses: tuple[str, ...] | None = None
    owner: str | None = None
    archived: bool | None = None
    since: int | None = None  # time from which on they were changed


class RowCursor(NamedTuple):
    """Place in a list of rows: those after it are older."""

    updated: int
    root: str


class ListedTree(NamedTuple):
    """Tree in a list: its row, the time of its latest change, and the facts that tell whether it can be run."""

    root: str
    updated: int
    row: IndexRow
    status: str  # of the tree: `active`, `quarantined`, …
    machine: str
    version: Json
    hash: str


class TextMatch(NamedTuple):
    """Tree that was found by its texts: the newest that matches, and the line that does."""

    root: str
    line: str
    place: int  # of the text; the next page continues after that of the last match


class TreeIndex(Protocol):
    """Rows and texts of the trees of a store."""

    async def page(self, filter: RowFilter, after: RowCursor | None, limit: int) -> list[ListedTree]:
        """List trees, the latest changed first, after a cursor."""
        ...

    async def get(self, roots: Iterable[str]) -> dict[str, ListedTree]:
        """Return the trees of some ids that have rows."""
        ...

    async def search(self, words: str, after: int | None, limit: int) -> list[TextMatch]:
        """Find trees by the words of their texts, the newest match first, each tree once."""
        ...

    async def ids(self, prefix: str, kind: str | None = None, owner: str | None = None) -> list[str]:
        """List the ids of trees with rows that start with a prefix, at most `MOST_IDS` of them."""
        ...

    async def find_outdated(self, *versions: int) -> list[str]:
        """List the trees whose rows were written by none of these versions of a projection."""
        ...

    async def clear(self) -> None:
        """Delete all rows and texts."""
        ...

    async def replace(self, root: str, change: IndexChange, version: int) -> None:
        """Replace the row and the texts of a tree."""
        ...


def merge_changes(changes: list[IndexChange]) -> IndexChange | None:
    """Return the changes of some steps as one, or None if there is none."""
    if len(changes) < 2:
        return changes[0] if changes else None
    row: IndexRow | None = None
    texts: dict[str, IndexText] = {}
    for change in changes:
        row = merge_rows(row, change.row)
        texts.update((text.key, text) for text in change.texts)
    return IndexChange(changes[-1].at, row, tuple(texts.values()))


def merge_rows(before: IndexRow | None, after: IndexRow | None) -> IndexRow | None:
    """Return a row after a change, with the summary of the row before if it has none."""
    if after is None:
        return before
    if before is None or after.summary is not None:
        return after
    return after._replace(summary=before.summary)
