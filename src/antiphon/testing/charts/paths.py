"""Paths through a machine, followed by a system under test: handlers do what events say, and check states."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from antiphon.chart.errors import EngineError
from antiphon.chart.explore.coverage import get_transition_paths
from antiphon.chart.explore.labels import EventLabels
from antiphon.chart.explore.paths import StatePath
from antiphon.chart.machine import Machine
from antiphon.chart.snapshot import Snapshot
from antiphon.testing.charts.contracts import find_state

S = TypeVar("S")
Handler = Callable[..., Any]
Wait = Callable[[Handler, Awaitable[Any]], Awaitable[Any]]


class MissingHandler(LookupError):
    """An event of a path has no handler."""


class AsyncHandlerError(TypeError):
    """A handler is async in a way that cannot work."""


@dataclass(frozen=True, slots=True)
class PathHandlers(Generic[S]):
    """Functions for a system under test, plain or async.

    `start` makes the system; `events` do what an event says, by its type or its label (`after 5000 ms`, `done motor`);
    `states` check the system in a state, by its path such as `a.b`; `finish` ends the system, also after a failure.
    """

    start: Callable[[], S | Awaitable[S]]
    events: Mapping[str, Callable[[S, Any], object]]
    states: Mapping[str, Callable[[S, Snapshot[Any]], object]] = field(default_factory=dict)
    finish: Callable[[S], object] | None = None


def test_paths(
    machine: Machine[Any, Any],
    handlers: PathHandlers[S],
    paths: Iterable[StatePath] | None = None,  # noqa: PT028 - it is no test
) -> list[StatePath]:
    """Follow paths with a system under test, each with a new one; by default a few that take every transition.

    Return the paths. Raise what a handler raises, with a note that has the path.
    """
    followed = _choose_paths(machine, handlers, paths)
    for path in followed:
        follow_path(path, handlers)
    return followed


async def test_paths_async(
    machine: Machine[Any, Any],
    handlers: PathHandlers[S],
    paths: Iterable[StatePath] | None = None,  # noqa: PT028 - it is no test
) -> list[StatePath]:
    """Follow paths as `test_paths` does, in the event loop that runs: for async tests."""
    followed = _choose_paths(machine, handlers, paths)
    for path in followed:
        await follow_path_async(path, handlers)
    return followed


# They are no tests of the module that imports them.
test_paths.__test__ = False  # type: ignore[attr-defined]
test_paths_async.__test__ = False  # type: ignore[attr-defined]


def follow_path(path: StatePath, handlers: PathHandlers[S]) -> None:
    """Follow one path with a new system under test; what is async runs in an event loop of this path."""
    runner = asyncio.Runner()  # makes no loop before it runs something
    following = _follow(path, handlers, partial(_run, runner))
    try:
        following.send(None)  # to its end: `_run` never suspends it, so plain handlers run in no event loop
    except StopIteration:
        return
    finally:
        following.close()
        runner.close()


async def follow_path_async(path: StatePath, handlers: PathHandlers[S]) -> None:
    """Follow one path with a new system under test, in the event loop that runs."""
    await _follow(path, handlers, _await)


async def _await(handler: Handler, result: Awaitable[Any]) -> Any:
    return await result


async def _run(runner: asyncio.Runner, handler: Handler, result: Awaitable[Any]) -> Any:
    """Run what an async handler returned to its end."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return runner.run(_await(handler, result))
    if inspect.iscoroutine(result):
        result.close()
    raise AsyncHandlerError(
        f"{handler!r} is async, and an event loop runs already; in an async test, "
        "await test_paths_async or follow_path_async"
    )


async def _follow(path: StatePath, handlers: PathHandlers[S], wait: Wait) -> None:
    _require_handlers(path, handlers)
    system = await _call(wait, handlers.start)
    try:
        for number, (event, snapshot) in enumerate([(None, path.start), *path.steps]):
            try:
                await _take_step(wait, system, event, snapshot, handlers)
            except Exception as error:
                error.add_note(f"in step {number} of the path: {path}")
                raise
    finally:
        if handlers.finish is not None:
            await _call(wait, handlers.finish, system)


async def _take_step(wait: Wait, system: S, event: Any, snapshot: Snapshot[Any], handlers: PathHandlers[S]) -> None:
    """Do what an event says, if there is one, and check the states that are active after it."""
    if event is not None:
        handler = _handler(event["type"], EventLabels(snapshot.machine.root), handlers)
        assert handler is not None  # it was required before
        await _call(wait, handler, system, event)
    for name, check in handlers.states.items():
        if find_state(snapshot.machine, name) in snapshot.nodes:
            await _call(wait, check, system, snapshot)


async def _call(wait: Wait, handler: Handler, *arguments: Any) -> Any:
    """Call a handler, and wait for what it returns if it is async."""
    result = handler(*arguments)
    if inspect.isgenerator(result) or inspect.isasyncgen(result):
        raise AsyncHandlerError(
            f"{handler!r} has a yield, so a call does nothing; a handler is a function or an async function: "
            "set up in start, and clean up in finish"
        )
    return await wait(handler, result) if inspect.isawaitable(result) else result


def _choose_paths(
    machine: Machine[Any, Any], handlers: PathHandlers[Any], paths: Iterable[StatePath] | None
) -> list[StatePath]:
    """Return the paths to follow; raise before anything is done if a handler is missing."""
    followed = list(get_transition_paths(machine).paths if paths is None else paths)
    for path in followed:
        _require_handlers(path, handlers)
    return followed


def _handler(type: str, labels: EventLabels, handlers: PathHandlers[S]) -> Callable[[S, Any], object] | None:
    return handlers.events.get(type) or handlers.events.get(labels[type])


def _require_handlers(path: StatePath, handlers: PathHandlers[Any]) -> None:
    """Raise before anything is done if a handler is missing, or a state that is checked does not exist."""
    machine = path.start.machine
    labels = EventLabels(machine.root)
    types = dict.fromkeys(event["type"] for event in path.events)
    missing = [labels[type] for type in types if _handler(type, labels, handlers) is None]
    if missing:
        raise MissingHandler(f"no handler for the events {', '.join(missing)} of the path: {path}")
    for name in handlers.states:
        try:
            find_state(machine, name)
        except EngineError as error:
            raise MissingHandler(f"a check is for the state {name!r}: {error}") from error
