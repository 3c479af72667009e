"""Times of what machines record: those of events, or of the steps that take them."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from antiphon.chart.errors import EngineError
from antiphon.chart.scope import Scope
from antiphon.chart.signatures import ScopedEvent

C = TypeVar("C", bound=Mapping[str, Any])


def time_of(event: Mapping[str, Any], scope: Scope) -> int | None:
    """Return the time of an event, or else of its step; None in a pure step that has no time."""
    at: int | None = event.get("at")
    if at is not None:
        return at
    try:
        return round(scope.now)
    except EngineError:
        return None


def with_time(function: Callable[[C, Any], C]) -> ScopedEvent[C, Any, C]:
    """Return a function that gets the time for its messages as `messageAt` of the event."""

    def run(context: C, event: Mapping[str, Any], *, scope: Scope) -> C:
        return function(context, {**event, "messageAt": time_of(event, scope)})

    return run
