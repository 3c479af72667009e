"""The clock of providers; the clocks of `antiphon.actors` satisfy it too."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol


class ProviderClock(Protocol):
    """Clock with timers."""

    def now(self) -> float:
        """Return the milliseconds since a fixed moment."""
        ...

    def set_timeout(self, callback: Callable[[], None], delay_ms: float) -> Any:
        """Call back after a delay; return a handle."""
        ...

    def clear_timeout(self, handle: Any) -> None:
        """Cancel a timeout."""
        ...


class LoopClock:
    """Monotonic time, and timers on the running event loop."""

    __slots__ = ()

    def now(self) -> float:
        """Return the milliseconds of the monotonic clock."""
        return time.monotonic() * 1000

    def set_timeout(self, callback: Callable[[], None], delay_ms: float) -> asyncio.TimerHandle:
        """Call back on the event loop after a delay."""
        return asyncio.get_running_loop().call_later(delay_ms / 1000, callback)

    def clear_timeout(self, handle: asyncio.TimerHandle) -> None:
        """Cancel a timeout."""
        handle.cancel()


async def sleep(clock: ProviderClock, delay_ms: float) -> None:
    """Wait for a delay on a clock."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not done.done():
            done.set_result(None)

    handle = clock.set_timeout(wake, delay_ms)
    try:
        await done
    finally:
        clock.clear_timeout(handle)


LOOP_CLOCK = LoopClock()
