"""Simulated services: functions, tasks and streams that succeed, fail, hang, are slow or cancel themselves."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from antiphon.actors.tasks import AsyncLogic, Safety, from_stream, from_task
from antiphon.runtime.tasks import TaskScope
from antiphon.testing.simulation.processes import current_process
from antiphon.testing.simulation.world import WORLD, World, result_of

DELTA = "DELTA"
FATES = ("work_fails", "work_hangs", "work_cancels_itself")


class ServiceFault(Exception):
    """A service failed, as services do."""

    code, recoverable = "overloaded", True


def simulated_task(safety: Safety = "report", deltas: int = 0) -> AsyncLogic:
    """A service whose tasks go as the simulation has it; the result says which task and attempt gave it.

    On its way it sends `deltas` events of type DELTA to the parent, with the texts "1;", "2;" and so on.
    """

    async def perform(input: Any, scope: TaskScope) -> Any:
        with _execution(scope) as world:
            async for text in _texts(world, deltas):
                scope.send_back({"type": DELTA, "text": text})
        if world.happens("echo"):
            world.report_later(scope.task)
        return result_of(scope.task)

    return from_task(perform, safety=safety)


def simulated_function(safety: Safety = "report") -> AsyncLogic:
    """A service that is a plain function: it answers, or fails, at once."""

    def perform(input: Any, scope: TaskScope) -> Any:
        with _execution(scope) as world:
            if world.happens("work_fails"):
                raise ServiceFault("the service is overloaded")
        return result_of(scope.task)

    return from_task(perform, safety=safety)


def simulated_calculation() -> AsyncLogic:
    """A service that is eager: it answers or fails before its step is stored, or has to be awaited after that."""

    def perform(input: Any, scope: TaskScope) -> Any:
        world = WORLD.get()
        world.history.counts["calculations"] += 1
        if world.happens("work_fails"):
            raise ServiceFault("the service is overloaded")
        return _Later(partial(wait, scope)) if world.happens("work_is_slow") else result_of(scope.task)

    async def wait(scope: TaskScope) -> Any:
        with _execution(scope) as world:
            await asyncio.sleep(world.dice.choice((0.0, 0.2)))
        return result_of(scope.task)

    return from_task(perform, safety="repeat", eager=True)


class _Later:
    """Something to be awaited that is nothing before: Python warns of coroutines that a dead process never began."""

    def __init__(self, begin: Callable[[], Awaitable[Any]]) -> None:
        self._begin = begin

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._begin().__await__()


def simulated_stream(safety: Safety = "report", deltas: int = 4) -> AsyncLogic:
    """A service that gives the texts "1;", "2;" and so on as its values, as far as it gets."""

    async def perform(input: Any, scope: TaskScope) -> AsyncIterator[str]:
        with _execution(scope) as world:
            async for text in _texts(world, deltas):
                yield text

    return from_stream(perform, safety=safety)


@contextmanager
def _execution(scope: TaskScope) -> Iterator[World]:
    world, task = WORLD.get(), scope.task
    world.history.began(task, current_process().number)
    world.note(f"task {task.id} begins, attempt {task.attempt}")
    try:
        yield world
    finally:
        world.history.finished(task)
    world.note(f"task {task.id} is done, attempt {task.attempt}")


async def _texts(world: World, count: int) -> AsyncIterator[str]:
    """The course of one attempt: some texts, then the end the world has chosen for it."""
    fate = next((fault for fault in FATES if world.happens(fault)), None)
    seconds = world.dice.choice((2.0, 10.0) if world.happens("work_is_slow") else (0.0, 0.01, 0.2))
    told = count if fate is None else world.dice.randint(0, count)
    for number in range(told):
        await asyncio.sleep(seconds / (told + 1))
        yield f"{number + 1};"
    await asyncio.sleep(seconds / (told + 1))
    if fate == "work_fails":
        raise ServiceFault("the service is overloaded")
    if fate is not None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if fate == "work_cancels_itself":
            future.cancel()
        await future
