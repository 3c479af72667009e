"""Waiting for work that Ctrl-C stops."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from antiphon.cli.input.lines import LineInput
from antiphon.cli.input.signals import Signals

T = TypeVar("T")


class WaitAbandoned(Exception):
    """Raised when the user does not wait until the work has stopped."""


class InterruptibleWait:
    """Waits for work; Ctrl-C asks it to stop, and a press after `patience_s` more seconds abandons it."""

    def __init__(
        self,
        signals: Signals,
        lines: LineInput,
        stop: Callable[[], Coroutine[Any, Any, object]],
        *,
        patience_s: float = 0.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._signals = signals
        self._lines = lines
        self._stop = stop
        self._patience_s = patience_s
        self._now = now

    async def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` and return its result; raise `WaitAbandoned` if the user does not wait for it."""
        abandoned: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(work)
        stopping: asyncio.Task[object] | None = None
        pressed_at = 0.0

        def press() -> None:
            nonlocal stopping, pressed_at
            self._lines.discard_lines()
            if stopping is None:
                pressed_at = self._now()
                stopping = asyncio.create_task(self._stop())
                stopping.add_done_callback(lambda stopped: _copy_error(stopped, abandoned))
            elif self._now() - pressed_at >= self._patience_s and not abandoned.done():
                abandoned.set_exception(WaitAbandoned())

        try:
            with self._lines.hide(), self._signals.handled_by(press, takes_early=True):
                outcomes: set[asyncio.Future[Any]] = {task, abandoned}
                await asyncio.wait(outcomes, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                abandoned.result()
            return task.result()
        finally:
            await _end(task)
            if stopping is not None:
                await _end(stopping)
            if abandoned.done():
                abandoned.exception()


def _copy_error(stopped: "asyncio.Task[object]", abandoned: "asyncio.Future[None]") -> None:
    """Let the wait end with the error of a stop that has failed."""
    if stopped.cancelled() or abandoned.done():
        return
    if (error := stopped.exception()) is not None:
        abandoned.set_exception(error)


async def _end(task: "asyncio.Task[Any]") -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
