"""Coalescing of streamed events: events that differ only in a piece of text are joined into one."""

from collections.abc import Callable
from typing import Any

from antiphon.actors.clock import Clock

# Events are held back for this long, or until they have this many characters.
COALESCE_MS = 50
COALESCE_SIZE = 4096
TEXT_KEYS = ("content", "text")  # texts that may be joined; everything else in the two events must be equal


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
        self._key = ""  # key of the text in the last event that pieces are joined to
        self._pieces: list[str] = []  # its pieces after the first
        self._size = 0
        self._timer: Any = None

    def add(self, to: str, event: Any) -> None:
        """Buffer an event; it is delivered soon."""
        key = self._joining_key(to, event)
        if key:
            self._key = key
            self._pieces.append(event[key])
            self._size += len(event[key])
        else:
            self._join_pieces()
            self._events.append((to, event))
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

    def _joining_key(self, to: str, event: Any) -> str:
        """Return the key of the text by which an event continues the last one, or an empty string."""
        if not self._events or self._events[-1][0] != to:
            return ""
        last = self._events[-1][1]
        for key in (self._key,) if self._key else TEXT_KEYS:
            piece = event.get(key)
            if isinstance(piece, str) and isinstance(last.get(key), str) and {**last, key: piece} == event:
                return key
        return ""

    def _join_pieces(self) -> None:
        """Join the pieces of the last event."""
        if self._pieces:
            to, event = self._events[-1]
            self._events[-1] = (to, {**event, self._key: "".join((event[self._key], *self._pieces))})
            self._pieces = []
        self._key = ""
