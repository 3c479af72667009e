"""Calls that are finished even if their caller is cancelled."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundCalls:
    """Runs calls in tasks of their own: a cancelled caller leaves nothing half done."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    async def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a call to its end, and return its result."""
        return await asyncio.shield(self.start(call))

    def start(self, call: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Start a call."""
        running = asyncio.get_running_loop().create_task(call)
        self._running.add(running)
        running.add_done_callback(self._finish)
        return running

    def _finish(self, call: "asyncio.Task[Any]") -> None:
        self._running.discard(call)
        if not call.cancelled():
            call.exception()  # mark as retrieved: a cancelled caller does not read it

    async def wait_until_done(self) -> None:
        """Wait until no call is running."""
        while self._running:
            await asyncio.wait(self._running)
