"""A bell for one sleeper.

`asyncio.wait_for` on an event makes a task, a timer and two more rounds of the event loop for every sleep; the
runtime sleeps after every commit.
"""

import asyncio


class Bell:
    """Rings now, or has rung already when the sleeper lies down."""

    __slots__ = ("_has_rung", "_sleeper")

    def __init__(self) -> None:
        self._has_rung = False
        self._sleeper: asyncio.Future[None] | None = None

    def ring(self) -> None:
        """Wake the sleeper."""
        self._has_rung = True
        if self._sleeper is not None and not self._sleeper.done():
            self._sleeper.set_result(None)

    def silence(self) -> None:
        """Forget that it has rung."""
        self._has_rung = False

    async def sleep(self, longest_s: float) -> None:
        """Sleep until it rings, and not for longer than that."""
        if self._has_rung:
            return
        loop = asyncio.get_running_loop()
        self._sleeper = loop.create_future()
        timer = loop.call_later(longest_s, self.ring)
        try:
            await self._sleeper
        finally:
            timer.cancel()
            self._sleeper = None
