"""A bell for one sleeper, and a gong for many.

`asyncio.wait_for` on an event makes a task, a timer and two more rounds of the event loop for every sleep; the
runtime sleeps after every commit.
"""

import asyncio


class Bell:
    """Rings now, or has rung already when the sleeper lies down."""

    __slots__ = ("_alarm", "_has_rung", "_sleeper")

    def __init__(self) -> None:
        self._has_rung = False
        self._sleeper: asyncio.Future[None] | None = None
        self._alarm: asyncio.TimerHandle | None = None  # it may ring after the sleeper got up, and is set for the next

    def ring(self) -> None:
        """Wake the sleeper."""
        self._has_rung = True
        if self._sleeper is not None and not self._sleeper.done():
            self._sleeper.set_result(None)

    def silence(self) -> None:
        """Forget that it has rung."""
        self._has_rung = False

    async def sleep(self, longest_s: float) -> None:
        """Sleep until it rings, and not for longer than that; it may ring for nothing."""
        if self._has_rung:
            return
        loop = asyncio.get_running_loop()
        self._sleeper = loop.create_future()
        self._set_alarm(loop, loop.time() + longest_s)
        try:
            await self._sleeper
        finally:
            self._sleeper = None

    def _set_alarm(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        """Have it ring then; an alarm that is set for some earlier time does as well."""
        if self._alarm is not None:
            if self._alarm.when() <= due:
                return
            self._alarm.cancel()
        self._alarm = loop.call_at(due, self._ring_by_itself)

    def _ring_by_itself(self) -> None:
        self._alarm = None
        self.ring()

    def stop(self) -> None:
        """Set no alarm any more."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


class Gong:
    """Wakes everybody who waits for its next stroke."""

    __slots__ = ("_waiting", "strokes")

    def __init__(self) -> None:
        self.strokes = 0
        self._waiting: list[asyncio.Future[None]] = []

    def strike(self) -> None:
        """Wake who waits."""
        self.strokes += 1
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for one in waiting:
                if not one.done():
                    one.set_result(None)

    async def wait(self) -> None:
        """Wait for the next stroke."""
        one: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(one)
        await one
