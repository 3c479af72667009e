"""Coalescing of streamed events: where a stream of text asks for it, its pieces are joined into one event.

1. An event that comes after a pause is delivered at once, with those of the same moment: first words do not wait.
2. Events that follow are held back until the window after the last delivery is over.
3. The window of a busy process grows, so that it stores fewer and longer texts. Its windows end together, and sources
   of events are not read meanwhile: what they send is decoded and stored together.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from antiphon.actors.clock import Clock

# Events are held back for this long after others were delivered, or until they have this many characters.
COALESCE_MS = 50
COALESCE_SIZE = 4096
# The longest window of a busy process; a longer one that is set stays as it is.
LONGEST_MS = 150
# A process whose timers are later than this on average is busy; those of a quiet one are late by up to a millisecond.
BUSY_MS = 2.0
# Milliseconds that the window grows by for each beyond that; the time of the average, and the most that a timer counts.
GROWTH = 25
AVERAGED_MS = 200
MOST_WEIGHT = 0.25
# Windows of a busy process end at multiples of this, so that the texts of many streams are stored together.
GRID_MS = 10


def loop_ms() -> float:
    """Return the time of the running event loop in milliseconds."""
    return asyncio.get_running_loop().time() * 1000


class CoalescingWindow:
    """Time for which events are held back, shared by the streams of a process; with a clock, it grows with the load."""

    __slots__ = ("_late_ms", "_noted_ms", "_now_ms", "shortest_ms")

    def __init__(self, shortest_ms: float = COALESCE_MS, now_ms: Callable[[], float] | None = None) -> None:
        self.shortest_ms = shortest_ms
        self._now_ms = now_ms
        self._late_ms = 0.0
        self._noted_ms = 0.0

    @property
    def ms(self) -> float:
        """The window at present; none if none is set."""
        if not self.shortest_ms:
            return 0.0
        growth = GROWTH * max(0.0, self._late_ms - BUSY_MS)
        return max(self.shortest_ms, min(LONGEST_MS, self.shortest_ms + growth))

    @property
    def is_busy(self) -> bool:
        """True if timers are late, so that the event loop has more to do than time."""
        return self._late_ms > BUSY_MS

    @property
    def rest_ms(self) -> float:
        """The time until a window that begins now is over; those of a busy process end together."""
        if self._now_ms is None or not self.shortest_ms or not self.is_busy:
            return self.ms
        now = self._now_ms()
        return -(-(now + self.ms) // GRID_MS) * GRID_MS - now

    @property
    def pause_ms(self) -> float:
        """How long a source of events need not be read, because they would be held back; none in a quiet process."""
        return self.rest_ms if self.is_busy else 0.0

    def due(self, delay_ms: float) -> float:
        """Return the time at which a timer is due."""
        return 0.0 if self._now_ms is None else self._now_ms() + delay_ms

    def note(self, due_ms: float) -> None:
        """Take note of how late a timer is: late ones are the load of the event loop."""
        if self._now_ms is not None:
            now = self._now_ms()
            weight = min(MOST_WEIGHT, (now - self._noted_ms) / AVERAGED_MS)
            self._late_ms += weight * (max(0.0, now - due_ms) - self._late_ms)
            self._noted_ms = now


class Coalescer:
    """Buffer of addressed events, flushed after a window or at a size; adding an event takes constant time."""

    __slots__ = ("_clock", "_deliver", "_due", "_events", "_key", "_max_size", "_pieces", "_size", "_timer", "_window")

    def __init__(
        self,
        deliver: Callable[[list[tuple[str, Any]]], None],
        clock: Clock,
        *,
        window: CoalescingWindow | None = None,
        max_size: int = COALESCE_SIZE,
    ) -> None:
        self._deliver = deliver
        self._clock = clock
        self._window = window or CoalescingWindow()
        self._due = 0.0
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
            self._wait(0)

    def flush(self) -> None:
        """Deliver the buffered events now."""
        self.stop()
        self._deliver_all()

    def _wait(self, delay_ms: float) -> None:
        self._due = self._window.due(delay_ms)
        self._timer = self._clock.set_timeout(self._tick, delay_ms)

    def _tick(self) -> None:
        """Deliver what was buffered, and hold back what follows; after a window without events, hold back nothing."""
        self._timer = None
        self._window.note(self._due)
        if self._events:
            self._deliver_all()
            self._wait(self._window.rest_ms)

    def _deliver_all(self) -> None:
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
