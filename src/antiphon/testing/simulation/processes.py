"""Simulated processes: they run tasks, are called from outside or paused, and die at any point without cleaning up."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, TypeVar

from antiphon.testing.simulation.loop import OWNER, SimulatedLoop

T = TypeVar("T")


class Crash(BaseException):
    """Raised in the code in which a process dies; must not be caught."""


class Died(Exception):
    """The process died before a call returned."""


class UnexpectedCancel(Exception):
    """A call was cancelled without a request."""


class Process:
    """Simulated process: the owner of the callbacks of all tasks started in it, which end when it is killed."""

    def __init__(self, number: int, dies_at: Callable[[str], bool]) -> None:
        self.number = number
        self.is_alive = True
        self._dies_at = dies_at
        self._context = copy_context()
        self._context.run(OWNER.set, self)
        self._calls: dict[asyncio.Future[Any], None] = {}
        self._held: list[asyncio.Handle] | None = None  # callbacks to run later, while the process is paused
        self._ended = asyncio.Event()

    def start(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Start a task in the process."""
        return asyncio.get_running_loop().create_task(work, context=self._context)

    async def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the process and return its result; raise `Died` if the process dies before."""
        if not self.is_alive:
            work.close()
            raise Died
        result: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._calls[result] = None
        task = self.start(work)
        task.add_done_callback(lambda task: self._finish_call(result, task))
        try:
            return await result
        except asyncio.CancelledError:
            task.cancel()
            raise

    @property
    def calls(self) -> set[asyncio.Future[Any]]:
        """Results of the calls that have not returned."""
        return set(self._calls)

    @property
    def is_paused(self) -> bool:
        """True between `pause_all` and `resume`."""
        return self._held is not None

    def pause_all(self) -> None:
        """Let nothing of the process run until it is resumed, as after SIGSTOP."""
        if self._held is None:
            self._held = []

    def resume(self) -> None:
        """Run what became ready in the meantime."""
        held = self._held or ()
        self._held = None
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulatedLoop)
        loop.put_back(held)

    def admits(self, callback: asyncio.Handle) -> bool:
        """Return whether a callback runs now; one of a paused process is kept for later."""
        if self._held is not None and self.is_alive:
            self._held.append(callback)
            return False
        return self.is_alive

    def point(self, name: str) -> None:
        """Mark a place where the process may die."""
        if not self.is_alive:
            raise Crash(name)
        if self._dies_at(name):
            self.die()
            raise Crash(name)

    async def pause(self, name: str) -> None:
        """Mark a place where the process may die, in a coroutine: it waits forever, so that nothing is unwound."""
        if self.is_alive and self._dies_at(name):
            self.die()
        if not self.is_alive:
            await asyncio.get_running_loop().create_future()

    def die(self) -> None:
        """End the process at once."""
        self.is_alive = False
        self._ended.set()
        calls = self._calls
        self._calls = {}
        for result in calls:
            if not result.done():
                result.set_exception(Died())

    async def wait_until_dead(self) -> None:
        """Wait for the death of the process."""
        await self._ended.wait()

    def _finish_call(self, result: "asyncio.Future[T]", task: "asyncio.Task[T]") -> None:
        self._calls.pop(result, None)
        if result.done() or not self.is_alive:
            return
        error = task.exception() if not task.cancelled() else UnexpectedCancel()
        if error is None:
            result.set_result(task.result())
        else:
            result.set_exception(error)


def current_process() -> Process:
    """Return the process whose code is running."""
    process = OWNER.get()
    assert isinstance(process, Process)
    return process
