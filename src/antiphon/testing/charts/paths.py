"""Paths through a machine, followed by a system under test: handlers do what events say, and check states."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from antiphon.chart.errors import EngineError
from antiphon.chart.explore.coverage import get_transition_paths
from antiphon.chart.explore.labels import EventLabels
from antiphon.chart.explore.paths import StatePath
from antiphon.chart.machine import Machine
from antiphon.chart.snapshot import Snapshot
from antiphon.testing.charts.contracts import find_state

S = TypeVar("S")


class MissingHandler(LookupError):
    """An event of a path has no handler."""


@dataclass(frozen=True, slots=True)
class PathHandlers(Generic[S]):
    """Functions for a system under test.

    `start` makes the system; `events` do what an event says, by its type or its label (`after 5000 ms`, `done motor`);
    `states` check the system in a state, by its path such as `a.b`; `finish` ends the system, also after a failure.
    """

    start: Callable[[], S]
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
    followed = list(get_transition_paths(machine).paths if paths is None else paths)
    for path in followed:
        _require_handlers(path, handlers)
    for path in followed:
        follow_path(path, handlers)
    return followed


test_paths.__test__ = False  # type: ignore[attr-defined]  # it is no test of the module that imports it


def follow_path(path: StatePath, handlers: PathHandlers[S]) -> None:
    """Follow one path with a new system under test."""
    _require_handlers(path, handlers)
    system = handlers.start()
    try:
        for number, (event, snapshot) in enumerate([(None, path.start), *path.steps]):
            try:
                _take_step(system, event, snapshot, handlers)
            except Exception as error:
                error.add_note(f"in step {number} of the path: {path}")
                raise
    finally:
        if handlers.finish is not None:
            handlers.finish(system)


def _take_step(system: S, event: Any, snapshot: Snapshot[Any], handlers: PathHandlers[S]) -> None:
    """Do what an event says, if there is one, and check the states that are active after it."""
    if event is not None:
        handler = _handler(event["type"], EventLabels(snapshot.machine.root), handlers)
        assert handler is not None  # it was required before
        _call(handler, system, event)
    for name, check in handlers.states.items():
        if find_state(snapshot.machine, name) in snapshot.nodes:
            _call(check, system, snapshot)


def _call(handler: Callable[[S, Any], object], system: S, value: Any) -> None:
    result = handler(system, value)
    if inspect.iscoroutine(result):
        result.close()
        raise TypeError(f"{handler!r} is async; handlers are plain functions, which may run an event loop themselves")


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
