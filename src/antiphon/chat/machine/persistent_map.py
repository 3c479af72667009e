"""A map that only grows, in which adding the ten-thousandth entry costs what the first did.

A `Log` is a view of the first `length` entries of a shared buffer, as `chart.text.Text` is one of a shared
text. The newest view adds in place; an older one, when added to, copies what it sees and goes its own way.
Reading costs the same in every version. In JSON a log is a plain object.
"""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

V = TypeVar("V")


class _Buffer(Generic[V]):
    """Entries in the order in which they came, and where each of them stands."""

    __slots__ = ("entries", "places")

    def __init__(self, entries: list[tuple[str, V]]) -> None:
        self.entries = entries
        self.places = {key: place for place, (key, _) in enumerate(entries)}


class Log(Mapping[str, V]):
    """An immutable map to which entries can be added in O(1); none is ever changed or removed."""

    __slots__ = ("_buffer", "_length")

    def __init__(self, entries: Mapping[str, V] | None = None) -> None:
        self._buffer: _Buffer[V] = _Buffer(list((entries or {}).items()))
        self._length = len(self._buffer.entries)

    @classmethod
    def of(cls, entries: Mapping[str, V]) -> "Log[V]":
        """The entries as a log: the very same one if they are one, and a copy if they came from JSON."""
        return entries if isinstance(entries, Log) else cls(entries)

    def adding(self, key: str, value: V) -> "Log[V]":
        """This log with one more entry."""
        if key in self:
            raise ValueError(f"{key!r} is in the log already, and entries never change")
        buffer = self._buffer
        if len(buffer.entries) != self._length:
            buffer = _Buffer(buffer.entries[: self._length])
        buffer.places[key] = len(buffer.entries)
        buffer.entries.append((key, value))
        longer: Log[V] = object.__new__(Log)
        longer._buffer, longer._length = buffer, self._length + 1
        return longer

    def __getitem__(self, key: str) -> V:
        place = self._buffer.places[key]
        if place >= self._length:
            raise KeyError(key)
        return self._buffer.entries[place][1]

    def __contains__(self, key: object) -> bool:
        place = self._buffer.places.get(key)  # type: ignore[call-overload]  # any object may be asked for
        return place is not None and place < self._length

    def __iter__(self) -> Iterator[str]:
        return (self._buffer.entries[place][0] for place in range(self._length))

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"Log({dict(self)!r})"
