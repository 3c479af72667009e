"""Simulated processes: they begin, can be called from outside, and die anywhere without cleaning up."""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, TypeVar

from antiphon.testing.simulation.loop import OWNER

T = TypeVar("T")


class Crash(BaseException):
    """Ends the code in which a process dies; nothing may catch it."""


class Died(Exception):
    """The process died before it answered."""


class Forsaken(Exception):
    """A call was cancelled, though nobody asked for it."""


class Process:
    """Everything that ends when a process is killed: the callbacks of the tasks that were started in it."""

    def __init__(self, number: int, dies_at: Callable[[str], bool]) -> None:
        self.number, self.is_alive = number, True
        self._dies_at = dies_at
        self._context = copy_context()
        self._context.run(OWNER.set, self)
        self._calls: dict[asyncio.Future[Any], None] = {}
        self._ended = asyncio.Event()

    def start(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Have something run in the process."""
        return asyncio.get_running_loop().create_task(work, context=self._context)

    async def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Have something done in the process and wait for what comes of it, or for the death of the process."""
        if not self.is_alive:
            work.close()
            raise Died
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._calls[answer] = None
        task = self.start(work)
        task.add_done_callback(lambda task: self._answer(answer, task))
        try:
            return await answer
        except asyncio.CancelledError:
            task.cancel()
            raise

    @property
    def calls(self) -> set[asyncio.Future[Any]]:
        """Who waits for an answer."""
        return set(self._calls)

    def point(self, name: str) -> None:
        """A place where the process may die."""
        if not self.is_alive:
            raise Crash(name)
        if self._dies_at(name):
            self.die()
            raise Crash(name)

    async def pause(self, name: str) -> None:
        """A place where the process may die, in code that can wait: it waits forever, and nothing is unwound."""
        if self.is_alive and self._dies_at(name):
            self.die()
        if not self.is_alive:
            await asyncio.get_running_loop().create_future()

    def die(self) -> None:
        """End here and now."""
        self.is_alive = False
        self._ended.set()
        calls, self._calls = self._calls, {}
        for answer in calls:
            if not answer.done():
                answer.set_exception(Died())

    async def ended(self) -> None:
        """Wait for the death of the process."""
        await self._ended.wait()

    def _answer(self, answer: "asyncio.Future[T]", task: "asyncio.Task[T]") -> None:
        self._calls.pop(answer, None)
        if answer.done() or not self.is_alive:
            return
        error = task.exception() if not task.cancelled() else Forsaken()
        if error is None:
            answer.set_result(task.result())
        else:
            answer.set_exception(error)


def current_process() -> Process:
    """The process whose code asks."""
    process = OWNER.get()
    assert isinstance(process, Process)
    return process
