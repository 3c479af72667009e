"""Coalescing of streamed events: those that differ only in a text that grows become one."""

from collections.abc import Callable
from typing import Any

from antiphon.actors.clock import Clock

# Events wait for each other this long, or until there is this much of them.
COALESCE_MS = 50
COALESCE_SIZE = 4096
GROWING = ("content", "text")  # which texts may be joined; all else of two events has to be the same


class Coalescer:
    """Events on their way to addresses, given on together after a time or at a size; the work is linear in them."""

    __slots__ = ("_clock", "_every_ms", "_give", "_key", "_most", "_pieces", "_size", "_timer", "_waiting")

    def __init__(
        self,
        give: Callable[[list[tuple[str, Any]]], None],
        clock: Clock,
        *,
        every_ms: float = COALESCE_MS,
        most: int = COALESCE_SIZE,
    ) -> None:
        self._give = give
        self._clock = clock
        self._every_ms = every_ms
        self._most = most
        self._waiting: list[tuple[str, Any]] = []
        self._key = ""  # the text of the last event that grows
        self._pieces: list[str] = []  # and all of it
        self._size = 0
        self._timer: Any = None

    def add(self, to: str, event: Any) -> None:
        """Take an event, to be given on soon."""
        key = self._growing(to, event)
        if key:
            self._key = key
            self._pieces.append(event[key])
            self._size += len(event[key])
        else:
            self._close()
            self._waiting.append((to, event))
            self._size += len(str(event))
        if self._size >= self._most:
            self.flush()
        elif self._timer is None:
            self._timer = self._clock.set_timeout(self.flush, self._every_ms)

    def flush(self) -> None:
        """Give on what waits, now."""
        self.stop()
        if self._waiting:
            self._close()
            waiting = self._waiting
            self._waiting = []
            self._size = 0
            self._give(waiting)

    def stop(self) -> None:
        """Forget the time after which events are given on."""
        if self._timer is not None:
            self._clock.clear_timeout(self._timer)
            self._timer = None

    def _growing(self, to: str, event: Any) -> str:
        """The text by which an event goes on with the last one; empty if it does not."""
        if not self._waiting or self._waiting[-1][0] != to:
            return ""
        last = self._waiting[-1][1]
        for key in (self._key,) if self._key else GROWING:
            more = event.get(key)
            if isinstance(more, str) and isinstance(last.get(key), str) and {**last, key: more} == event:
                return key
        return ""

    def _close(self) -> None:
        """Join the pieces of the last event."""
        if self._pieces:
            to, event = self._waiting[-1]
            self._waiting[-1] = (to, {**event, self._key: "".join((event[self._key], *self._pieces))})
            self._pieces = []
        self._key = ""
