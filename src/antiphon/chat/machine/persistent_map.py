"""A persistent map that only grows, with entries added in constant time.

A `PersistentMap` is a view of the first `length` entries of a shared buffer, as `chart.text.Text` is one of a shared
text. The newest view adds in place; an older one copies its entries first. Reading costs the same in every version.
In JSON a map is a plain object.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

V = TypeVar("V")


class _Buffer(Generic[V]):
    """Entries in the order in which they were added, and the place of each key."""

    __slots__ = ("entries", "places")

    def __init__(self, entries: list[tuple[str, V]]) -> None:
        self.entries = entries
        self.places = {key: place for place, (key, _) in enumerate(entries)}


class PersistentMap(Mapping[str, V]):
    """An immutable map to which entries can be added in O(1); none is changed or removed."""

    __slots__ = ("_buffer", "_length")

    def __init__(self, entries: Mapping[str, V] | None = None) -> None:
        self._buffer: _Buffer[V] = _Buffer(list((entries or {}).items()))
        self._length = len(self._buffer.entries)

    @classmethod
    def of(cls, entries: Mapping[str, V]) -> "PersistentMap[V]":
        """Return the entries as a persistent map: the same object if they are one, else a copy."""
        return entries if isinstance(entries, PersistentMap) else cls(entries)

    def with_entry(self, key: str, value: V) -> "PersistentMap[V]":
        """Return this map with one more entry."""
        if key in self:
            raise ValueError(f"{key!r} is in the map already, and entries cannot be replaced")
        buffer = self._buffer
        if len(buffer.entries) != self._length:
            buffer = _Buffer(buffer.entries[: self._length])
        buffer.places[key] = len(buffer.entries)
        buffer.entries.append((key, value))
        longer: PersistentMap[V] = object.__new__(PersistentMap)
        longer._buffer = buffer
        longer._length = self._length + 1
        return longer

    def items_since(self, earlier: Any) -> list[tuple[str, V]] | None:
        """Return the entries that an earlier version of this map did not have, or None if that is another map."""
        if not isinstance(earlier, PersistentMap) or earlier._buffer is not self._buffer:
            return None
        return self._buffer.entries[earlier._length : self._length]

    def __getitem__(self, key: str) -> V:
        place = self._buffer.places[key]
        if place >= self._length:
            raise KeyError(key)
        return self._buffer.entries[place][1]

    def __contains__(self, key: object) -> bool:
        place = self._buffer.places.get(key)  # type: ignore[call-overload]  # `in` takes any object
        return place is not None and place < self._length

    def __iter__(self) -> Iterator[str]:
        return (self._buffer.entries[place][0] for place in range(self._length))

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"PersistentMap({dict(self)!r})"
