"""The index of a store in memory, with the same answers as that of a file."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from antiphon.runtime.index.rows import (
    MOST_IDS,
    IndexChange,
    ListedTree,
    RowCursor,
    RowFilter,
    TextMatch,
)
from antiphon.stores.index import LATEST, QUARANTINED, listed_from, place_of, row_columns
from antiphon.stores.rows import Row
from antiphon.stores.words import matching_line, parse_search, storable, words_of

SUMMARY = -1  # column of the summary in a row


@dataclass(slots=True)
class IndexedTree:
    """Row and texts of a tree; texts have their numbers, by key."""

    row: Row | None = None
    texts: dict[str, tuple[int, str]] = field(default_factory=dict)


class PreparedChange(NamedTuple):
    """Change of the index as rows."""

    at: int
    row: Row | None
    texts: list[tuple[str, int, str]]  # key, least number, text


class StoredTree(Protocol):
    """A tree of the store, with its row and texts."""

    origin: Row
    status: str
    indexed: IndexedTree
    projection: int


def prepare_change(root: str, change: IndexChange) -> PreparedChange:
    """Return a change as rows."""
    row = None if change.row is None else row_columns(root, change, change.row)
    texts = [(storable(text.key), place_of(root, text), storable(text.text)) for text in change.texts]
    return PreparedChange(change.at, row, texts)


class MemoryIndex:
    """Index of trees in a dict."""

    def __init__(self, trees: Callable[[], Mapping[str, StoredTree]]) -> None:
        self._trees = trees
        self._places: set[int] = set()  # numbers that are taken

    def write(self, tree: IndexedTree, change: PreparedChange) -> None:
        """Apply a change to a tree."""
        if change.row is not None:
            summary = change.row[SUMMARY]
            if summary is None and tree.row is not None:
                summary = tree.row[SUMMARY]
            tree.row = (*change.row[:SUMMARY], summary)
        elif tree.row is not None:
            root, _, *columns = tree.row
            tree.row = (root, change.at, *columns)
        for key, least, text in change.texts:
            self._places.discard(tree.texts.pop(key, (0, ""))[0])
            place = least
            while place in self._places:
                place += 1
            self._places.add(place)
            tree.texts[key] = (place, text)

    def delete_rows(self, tree: IndexedTree) -> None:
        """Delete the row and the texts of a tree."""
        self._places.difference_update(place for place, _ in tree.texts.values())
        tree.row = None
        tree.texts = {}

    def read_places(self) -> None:
        """Read the numbers of all texts again, after trees were replaced."""
        self._places = {place for tree in self._trees().values() for place, _ in tree.indexed.texts.values()}

    async def page(self, filter: RowFilter, after: RowCursor | None, limit: int) -> list[ListedTree]:
        """List trees, the latest changed first, after a cursor."""
        trees = [tree for tree in self._listed() if _is_selected(filter, tree) and _is_after(tree, after)]
        trees.sort(key=lambda tree: (tree.updated, tree.root), reverse=True)
        return trees[: max(0, limit)]

    async def get(self, roots: Iterable[str]) -> dict[str, ListedTree]:
        """Return the trees of some ids that have rows."""
        trees = {tree.root: tree for tree in self._listed()}
        return {root: trees[root] for root in roots if root in trees}

    async def search(self, words: str, after: int | None, limit: int) -> list[TextMatch]:
        """Find trees by the words of their texts, the newest match first, each tree once."""
        search = parse_search(words)
        if search.is_empty:
            return []
        newest: dict[str, tuple[int, str]] = {}
        for root, tree in self._trees().items():
            matches = [text for text in tree.indexed.texts.values() if search.matches(words_of(text[1]))]
            if matches:
                newest[root] = max(matches)
        before = LATEST if after is None else after
        matching = [(place, root, text) for root, (place, text) in newest.items() if place < before]
        matching.sort(reverse=True)
        return [TextMatch(root, matching_line(search, text), place) for place, root, text in matching[: max(0, limit)]]

    async def ids(self, prefix: str, kind: str | None = None, owner: str | None = None) -> list[str]:
        """List the ids of trees with rows that start with a prefix."""
        trees = [tree for tree in self._listed() if kind in (None, tree.row.kind) and owner in (None, tree.row.owner)]
        return sorted(tree.root for tree in trees if tree.root.startswith(prefix))[:MOST_IDS]

    async def find_outdated(self, *versions: int) -> list[str]:
        """List the trees whose rows were written by none of these versions of a projection."""
        return sorted(root for root, tree in self._trees().items() if tree.projection not in versions)

    async def clear(self) -> None:
        """Delete all rows and texts."""
        for tree in self._trees().values():
            self.delete_rows(tree.indexed)
            tree.projection = 0

    async def replace(self, root: str, change: IndexChange, version: int) -> None:
        """Replace the row and the texts of a tree."""
        tree = self._trees().get(root)
        if tree is not None:
            self.delete_rows(tree.indexed)
            self.write(tree.indexed, prepare_change(root, change))
            tree.projection = version

    def _listed(self) -> list[ListedTree]:
        return [_listed(tree) for tree in self._trees().values() if tree.indexed.row is not None]


def _listed(tree: StoredTree) -> ListedTree:
    assert tree.indexed.row is not None
    return listed_from((*tree.indexed.row, tree.status, *tree.origin[1:4]))


def _is_selected(filter: RowFilter, tree: ListedTree) -> bool:
    row = tree.row
    status = QUARANTINED if tree.status == QUARANTINED else row.status
    return (
        filter.kind in (None, row.kind)
        and (filter.statuses is None or status in filter.statuses)
        and filter.owner in (None, row.owner)
        and filter.archived in (None, row.archived)
        and (filter.since is None or tree.updated >= filter.since)
    )


def _is_after(tree: ListedTree, cursor: RowCursor | None) -> bool:
    return cursor is None or (tree.updated, tree.root) < (cursor.updated, cursor.root)
