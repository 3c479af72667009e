"""Time, as providers need it; the clocks of `antiphon.actors` fit."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> float:
        """Milliseconds since some fixed moment."""
        ...

    def set_timeout(self, callback: Callable[[], None], delay_ms: float) -> Any:
        """Call back after a delay; gives a handle."""
        ...

    def clear_timeout(self, handle: Any) -> None:
        """Forget a call that was asked for."""
        ...


class LoopClock:
    """Time that no one sets back, and timers on the running event loop."""

    __slots__ = ()

    def now(self) -> float:
        """Milliseconds since the computer started, or some such moment."""
        return time.monotonic() * 1000

    def set_timeout(self, callback: Callable[[], None], delay_ms: float) -> asyncio.TimerHandle:
        """Call back on the event loop after a delay."""
        return asyncio.get_running_loop().call_later(delay_ms / 1000, callback)

    def clear_timeout(self, handle: asyncio.TimerHandle) -> None:
        """Forget a call that was asked for."""
        handle.cancel()


async def sleep(clock: Clock, delay_ms: float) -> None:
    """Wait on a clock."""
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not over.done():
            over.set_result(None)

    handle = clock.set_timeout(wake, delay_ms)
    try:
        await over
    finally:
        clock.clear_timeout(handle)


LOOP_CLOCK = LoopClock()
