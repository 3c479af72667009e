"""Watching work of another process: a key leaves it as it is, another one stops it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from antiphon.cli.input.keys import read_keys
from antiphon.cli.input.signals import Signals

T = TypeVar("T")
LEAVE = ("q", "\x04")  # the second is Ctrl-D
STOP = "s"
KEYS = "q leaves it running, s stops it"


class Left(Exception):
    """Raised when the user leaves; the work goes on."""


class Watching:
    """Waits for work of another process; Ctrl-C leaves, too."""

    def __init__(self, signals: Signals, stop: Callable[[], Coroutine[Any, Any, object]]) -> None:
        self._signals = signals
        self._stop = stop

    async def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for `work` and return its result; raise `Left` if the user leaves before."""
        left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(work)
        stopping: list[asyncio.Task[object]] = []

        def leave() -> None:
            if not left.done():
                left.set_result(None)

        def press(key: str) -> None:
            if key.lower() in LEAVE:
                leave()
            elif key.lower() == STOP and not stopping:
                stopping.append(asyncio.create_task(self._stop()))

        try:
            with read_keys(press), self._signals.handled_by(leave):
                outcomes: set[asyncio.Future[Any]] = {task, left}
                await asyncio.wait(outcomes, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Left
            return task.result()
        finally:
            pending = [each for each in (task, *stopping) if not each.done()]
            for each in pending:
                each.cancel()
            if pending:
                await asyncio.wait(pending)
