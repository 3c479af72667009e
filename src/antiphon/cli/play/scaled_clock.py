"""A clock that runs `speed` times as fast as real time."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from antiphon.actors.clock import REAL_CLOCK


class ScaledClock:
    """Clock of an actor that runs `speed` times as fast as real time and starts at zero."""

    __slots__ = ("_started_at", "speed")

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self._started_at = time.monotonic()

    def now(self) -> float:
        """Return the scaled milliseconds since the start."""
        return (time.monotonic() - self._started_at) * 1000 * self.speed

    def set_timeout(self, callback: Callable[[], None], delay_ms: float) -> Any:
        """Schedule a callback on the event loop."""
        return REAL_CLOCK.set_timeout(callback, delay_ms / self.speed)

    def clear_timeout(self, handle: Any) -> None:
        """Cancel a scheduled callback."""
        REAL_CLOCK.clear_timeout(handle)

    async def pause(self, ms: float) -> None:
        """Sleep for scaled milliseconds."""
        await asyncio.sleep(ms / 1000 / self.speed)
