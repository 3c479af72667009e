"""Clocks: the only source of time."""

import time
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Any, Protocol

from antiphon.actors.loop import require_loop


class Clock(Protocol):
    """The time and the timers that actors use."""

    def now(self) -> float:
        """Return milliseconds since some fixed moment."""
        ...

    def set_timeout(self, callback: Callable[[], None], delay_ms: float) -> Any:
        """Call back after a delay; return a handle."""
        ...

    def clear_timeout(self, handle: Any) -> None:
        """Cancel a call by its handle."""
        ...


class RealClock:
    """Wall time, and timers on the running asyncio event loop."""

    __slots__ = ()

    def now(self) -> float:
        """Return milliseconds since the epoch."""
        return time.time() * 1000

    def set_timeout(self, callback: Callable[[], None], delay_ms: float) -> Any:
        """Call back on the event loop after a delay."""
        loop = require_loop("a delay needs a running asyncio event loop")
        return loop.call_later(delay_ms / 1000, callback)

    def clear_timeout(self, handle: Any) -> None:
        """Cancel a call by its handle."""
        handle.cancel()


class SimulatedClock:
    """A clock that moves only when told to; callbacks are called in the order in which they are due."""

    __slots__ = ("_cleared", "_ids", "_now", "_running", "_timers")

    def __init__(self, now: float = 0) -> None:
        self._now = now
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._cleared: set[int] = set()
        self._ids = count()
        self._running = False

    def now(self) -> float:
        """Return the time that was set last."""
        return self._now

    def set_timeout(self, callback: Callable[[], None], delay_ms: float) -> int:
        """Call back once the clock has moved far enough; return a handle."""
        handle = next(self._ids)
        heappush(self._timers, (self._now + delay_ms, handle, callback))
        return handle

    def clear_timeout(self, handle: int) -> None:
        """Cancel a call by its handle."""
        self._cleared.add(handle)

    def increment(self, ms: float) -> None:
        """Move forward; callbacks see the time moved to, not their own due time."""
        self._now += ms
        self._run()

    def set(self, now: float) -> None:
        """Move forward to a time."""
        if now < self._now:
            raise ValueError(f"the clock is at {self._now} ms and cannot be set back to {now} ms")
        self._now = now
        self._run()

    def _run(self) -> None:
        if self._running:
            return
        self._running = True
        try:
            while self._timers and self._timers[0][0] <= self._now:
                _, handle, callback = heappop(self._timers)
                if handle in self._cleared:
                    self._cleared.discard(handle)
                else:
                    callback()
        finally:
            self._running = False


REAL_CLOCK = RealClock()
