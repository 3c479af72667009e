"""Coalescing of streamed events: where a stream of text asks for it, its pieces are joined into one event."""

from collections.abc import Callable
from typing import Any

from antiphon.actors.clock import Clock

# Events are held back for this long, or until they have this many characters.
COALESCE_MS = 50
COALESCE_SIZE = 4096


class Coalescer:
    """Buffer of addressed events, flushed after a time or at a size; adding an event takes constant time."""

    __slots__ = ("_clock", "_deliver", "_events", "_every_ms", "_key", "_max_size", "_pieces", "_size", "_timer")

    def __init__(
        self,
        deliver: Callable[[list[tuple[str, Any]]], None],
        clock: Clock,
        *,
        every_ms: float = COALESCE_MS,
        max_size: int = COALESCE_SIZE,
    ) -> None:
        self._deliver = deliver
        self._clock = clock
        self._every_ms = every_ms
        self._max_size = max_size
        self._events: list[tuple[str, Any]] = []
        self._key: str | None = None  # key of the text in the last event to which pieces may be joined
        self._pieces: list[str] = []  # its pieces after the first
        self._size = 0
        self._timer: Any = None

    def add(self, to: str, event: Any, join: str | None = None) -> None:
        """Buffer an event; it is delivered soon.

        With `join`, the key of a text, it may be joined to the event before, if that has the same `join` and the two
        are equal but for this text.
        """
        if join is not None and self._continues(to, event, join):
            self._pieces.append(event[join])
            self._size += len(event[join])
        else:
            self._join_pieces()
            self._events.append((to, event))
            self._key = join
            self._size += len(str(event))
        if self._size >= self._max_size:
            self.flush()
        elif self._timer is None:
            self._timer = self._clock.set_timeout(self.flush, self._every_ms)

    def flush(self) -> None:
        """Deliver the buffered events now."""
        self.stop()
        if self._events:
            self._join_pieces()
            events = self._events
            self._events = []
            self._size = 0
            self._deliver(events)

    def stop(self) -> None:
        """Cancel the timer that delivers buffered events."""
        if self._timer is not None:
            self._clock.clear_timeout(self._timer)
            self._timer = None

    def _continues(self, to: str, event: Any, key: str) -> bool:
        """Return whether an event differs from the last one in its text only."""
        if key != self._key or not self._events or self._events[-1][0] != to:
            return False
        last = self._events[-1][1]
        piece = event.get(key)
        return isinstance(piece, str) and isinstance(last.get(key), str) and {**last, key: piece} == event

    def _join_pieces(self) -> None:
        """Join the pieces of the last event."""
        key = self._key
        if self._pieces and key is not None:
            to, event = self._events[-1]
            self._events[-1] = (to, {**event, key: "".join((event[key], *self._pieces))})
            self._pieces = []
        self._key = None
