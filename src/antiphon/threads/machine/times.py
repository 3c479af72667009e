"""Times of what machines record: those of events, or of the steps that take them."""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.errors import EngineError
from antiphon.chart.scope import Scope


def time_of(event: Mapping[str, Any], scope: Scope) -> int | None:
    """Return the time of an event, or else of its step; None in a pure step that has no time."""
    at: int | None = event.get("at")
    if at is not None:
        return at
    try:
        return round(scope.now)
    except EngineError:
        return None
