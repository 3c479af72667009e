"""Simulated services: functions, tasks and streams that succeed, fail, hang, are slow or cancel themselves."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, TypeVar

from antiphon.actors.tasks import AsyncLogic, Safety, from_stream, from_task
from antiphon.runtime.tasks import DurableScope
from antiphon.testing.simulation.processes import current_process
from antiphon.testing.simulation.world import WORLD, World, result_of

T = TypeVar("T")
DELTA = "DELTA"
UNSTORABLE = 0.3  # of the failures of a function that returns a dict
NAN = float("nan")  # which cannot be stored
FAILURES = ("work_fails", "work_hangs", "work_cancels_itself")


class ServiceFault(Exception):
    """Failure of a simulated service."""

    code = "overloaded"
    recoverable = True


class CodeFault(Exception):
    """Failure of a function of a machine."""


def simulated_code(function: Callable[..., T]) -> Callable[..., T]:
    """Return a function of a machine that sometimes raises, or returns what cannot be stored if that is a dict."""

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        world = WORLD.get(None)
        result = function(*arguments, **options)
        if world is None or not world.happens("code_fails"):
            return result
        world.log(f"{function.__name__} fails")
        if isinstance(result, dict) and world.rng.random() < UNSTORABLE:
            return {**result, "number": NAN}
        raise CodeFault(f"{function.__name__} has a bug")

    return call


def simulated_task(safety: Safety = "report", deltas: int = 0) -> AsyncLogic:
    """Return a service whose tasks suffer the faults of the simulation; a result names its task and attempt.

    It sends `deltas` events of type DELTA to the parent, with the texts "1;", "2;" and so on.
    """

    async def perform(input: Any, scope: DurableScope) -> Any:
        with _execution(scope) as world:
            async for text in _texts(world, deltas):
                scope.send_back({"type": DELTA, "text": text}, join="text")
        if world.happens("echo"):
            world.report_later(scope.task)
        return result_of(scope.task)

    return from_task(perform, safety=safety)


def simulated_function(safety: Safety = "report") -> AsyncLogic:
    """Return a service that is a plain function: it returns or raises at once."""

    def perform(input: Any, scope: DurableScope) -> Any:
        with _execution(scope) as world:
            if world.happens("work_fails"):
                raise ServiceFault("the service is overloaded")
        return result_of(scope.task)

    return from_task(perform, safety=safety)


def simulated_calculation() -> AsyncLogic:
    """Return an eager service: it returns or raises before its step is stored, or has to be awaited after that."""

    def perform(input: Any, scope: DurableScope) -> Any:
        world = WORLD.get()
        world.history.counts["calculations"] += 1
        if world.happens("work_fails"):
            raise ServiceFault("the service is overloaded")
        return _Later(partial(wait, scope)) if world.happens("work_is_slow") else result_of(scope.task)

    async def wait(scope: DurableScope) -> Any:
        with _execution(scope) as world:
            await asyncio.sleep(world.rng.choice((0.0, 0.2)))
        return result_of(scope.task)

    return from_task(perform, safety="repeat", eager=True)


class _Later:
    """Awaitable that creates its coroutine when awaited: Python warns of coroutines that are never awaited."""

    def __init__(self, make: Callable[[], Awaitable[Any]]) -> None:
        self._make = make

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._make().__await__()


def simulated_stream(safety: Safety = "report", deltas: int = 4) -> AsyncLogic:
    """Return a service that yields the texts "1;", "2;" and so on until a fault ends it."""

    async def perform(input: Any, scope: DurableScope) -> AsyncIterator[str]:
        with _execution(scope) as world:
            async for text in _texts(world, deltas):
                yield text

    return from_stream(perform, safety=safety)


@contextmanager
def _execution(scope: DurableScope) -> Iterator[World]:
    world = WORLD.get()
    task = scope.task
    world.history.record_start(task, current_process().number)
    world.log(f"task {task.id} begins, attempt {task.attempt}")
    try:
        yield world
    finally:
        world.history.record_end(task)
    world.log(f"task {task.id} is done, attempt {task.attempt}")


async def _texts(world: World, count: int) -> AsyncIterator[str]:
    """Yield the texts of one attempt, then fail, hang or cancel it if the world says so."""
    failure = next((fault for fault in FAILURES if world.happens(fault)), None)
    seconds = world.rng.choice((2.0, 10.0) if world.happens("work_is_slow") else (0.0, 0.01, 0.2))
    sent = count if failure is None else world.rng.randint(0, count)
    for number in range(sent):
        await asyncio.sleep(seconds / (sent + 1))
        yield f"{number + 1};"
    await asyncio.sleep(seconds / (sent + 1))
    if failure == "work_fails":
        raise ServiceFault("the service is overloaded")
    if failure is not None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if failure == "work_cancels_itself":
            future.cancel()
        await future
