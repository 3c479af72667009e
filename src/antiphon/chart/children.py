"""An immutable map of children with updates in constant time, however many children there are.

A small map is copied when it changes. Of a large one only the newest version holds a table. Every older
one holds the single change that leads back from the version after it, so an update is O(1) and shares
everything. Reading an old version walks those changes once and turns it into the one that holds the
table (Baker's rerooting).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

T = TypeVar("T")
SMALL = 8


class Children(Mapping[str, T], Generic[T]):
    """Children by id, in the order in which they were added."""

    __slots__ = ("_change", "_later", "_next", "_table")
    # Only in a version without a table: the next version, and the change that leads back from it.
    _later: "Children[T]"
    _change: tuple[str, tuple[int, T] | None]

    def __init__(self, table: dict[str, tuple[int, T]] | None = None, next: int = 0) -> None:
        self._table: dict[str, tuple[int, T]] | None = {} if table is None else table
        self._next = next

    def adding(self, key: str, child: T) -> "Children[T]":
        """Return this map with one more child, or with another one under the same id."""
        table = self._table if self._table is not None else self._own()
        present = table.get(key)
        entry = (self._next if present is None else present[0], child)
        if len(table) <= SMALL:
            return Children({**table, key: entry}, self._next + 1)
        newer = self._next_version(table, key, present)
        table[key] = entry
        return newer

    def removing(self, key: str) -> "Children[T]":
        """Return this map without the child of this id."""
        table = self._table if self._table is not None else self._own()
        present = table.get(key)
        if present is None:
            return self
        if len(table) <= SMALL:
            table = table.copy()
            newer = Children(table, self._next + 1)
        else:
            newer = self._next_version(table, key, present)
        del table[key]
        return newer

    def get(self, key: str, default: Any = None) -> Any:
        """Return the child of this id, or the default."""
        table = self._table if self._table is not None else self._own()
        entry = table.get(key)
        return default if entry is None else entry[1]

    def __getitem__(self, key: str) -> T:
        return self._own()[key][1]

    def __contains__(self, key: object) -> bool:
        return key in self._own()

    def __len__(self) -> int:
        return len(self._own())

    def __iter__(self) -> Iterator[str]:
        places = self._own()
        return iter(sorted(places, key=lambda key: places[key][0]))

    def __repr__(self) -> str:
        return f"Children({dict(self)!r})"

    def _next_version(self, table: dict[str, tuple[int, T]], key: str, present: tuple[int, T] | None) -> "Children[T]":
        """Hand the table of a large map over to a new version, which is about to differ in one child."""
        newer: Children[T] = Children(table, self._next + 1)
        self._yield_table(newer, key, present)
        return newer

    def _own(self) -> dict[str, tuple[int, T]]:
        if self._table is None:
            self._reroot()
        assert self._table is not None
        return self._table

    def _reroot(self) -> None:
        chain: list[Children[T]] = []
        version = self
        while version._table is None:
            chain.append(version)
            version = version._later
        for older in reversed(chain):
            newer = older._later
            (key, entry) = older._change
            table = newer._own()
            newer._yield_table(older, key, table.get(key))
            older._table = table
            del older._later, older._change
            _put(table, key, entry)

    def _yield_table(self, heir: "Children[T]", key: str, entry: tuple[int, T] | None) -> None:
        self._table = None
        self._later = heir
        self._change = (key, entry)


def _put(table: dict[str, tuple[int, T]], key: str, entry: tuple[int, T] | None) -> None:
    if entry is None:
        table.pop(key, None)
    else:
        table[key] = entry
