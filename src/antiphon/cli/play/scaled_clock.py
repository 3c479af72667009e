"""Time that passes faster or slower than it does."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from antiphon.actors.clock import REAL_CLOCK


class PacedClock:
    """A clock whose milliseconds are `speed` times as short; it starts at zero."""

    __slots__ = ("_began", "speed")

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self._began = time.monotonic()

    def now(self) -> float:
        """Milliseconds since the start, as the chart counts them."""
        return (time.monotonic() - self._began) * 1000 * self.speed

    def set_timeout(self, callback: Callable[[], None], delay_ms: float) -> Any:
        """Call back on the event loop after a delay."""
        return REAL_CLOCK.set_timeout(callback, delay_ms / self.speed)

    def clear_timeout(self, handle: Any) -> None:
        """Forget a call that was asked for."""
        REAL_CLOCK.clear_timeout(handle)

    async def pause(self, ms: float) -> None:
        """Let time pass."""
        await asyncio.sleep(ms / 1000 / self.speed)
