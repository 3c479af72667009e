"""Wake-ups cheaper than `asyncio.Event`: one waiter with a timeout, or a broadcast to many.

`asyncio.wait_for` on an event costs a task, a timer and two more rounds of the event loop for every wait; the
runtime waits after every commit.
"""

import asyncio


class Wakeup:
    """Flag that one task waits for, with a timeout."""

    __slots__ = ("_future", "_is_set", "_timer")

    def __init__(self) -> None:
        self._is_set = False
        self._future: asyncio.Future[None] | None = None
        # Kept after a wait that ended early: it serves as the timeout of the next one.
        self._timer: asyncio.TimerHandle | None = None

    def set(self) -> None:
        """Set the flag and wake the waiter."""
        self._is_set = True
        if self._future is not None and not self._future.done():
            self._future.set_result(None)

    def clear(self) -> None:
        """Reset the flag."""
        self._is_set = False

    async def wait(self, timeout_s: float) -> None:
        """Wait until the flag is set or the timeout has passed; may return early without a reason."""
        if self._is_set:
            return
        loop = asyncio.get_running_loop()
        self._future = loop.create_future()
        self._set_timer(loop, loop.time() + timeout_s)
        try:
            await self._future
        finally:
            self._future = None

    def _set_timer(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        """Set the timer, unless it already fires at that time or earlier."""
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = loop.call_at(due, self._on_timeout)

    def _on_timeout(self) -> None:
        self._timer = None
        self.set()

    def close(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Broadcast:
    """Wakes all waiters on every notification, and counts notifications in `version`."""

    __slots__ = ("_waiters", "version")

    def __init__(self) -> None:
        self.version = 0
        self._waiters: list[asyncio.Future[None]] = []

    def notify(self) -> None:
        """Wake all waiters."""
        self.version += 1
        if self._waiters:
            waiters = self._waiters
            self._waiters = []
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)

    async def wait(self) -> None:
        """Wait for the next notification."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter
