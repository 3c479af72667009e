"""Checks of events from outside: they must be JSON and must not be reserved for the engine."""

import json
from typing import Any

from antiphon.chart.decisions import is_reserved
from antiphon.chart.errors import EventError
from antiphon.chart.ops import check_event
from antiphon.chart.persist import is_plain
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.transition import get_next_transitions

_encode = json.JSONEncoder(allow_nan=False).encode  # created once: json.dumps would create one for every event
RESERVED = ("xstate.", "antiphon.")


def check_external_event(event: Any) -> Any:
    """Return an event from outside; raise `EventError` if it is reserved or cannot be stored."""
    kind: str = check_event(event)["type"]
    if kind.startswith(RESERVED) and kind != "xstate.route":
        raise EventError(f"the event {kind!r} is reserved for the engine and cannot be sent from outside")
    problem = json_problem(event)
    if problem is not None:
        raise EventError(f"the event {kind!r} cannot be stored: {problem}")
    return event


def acceptable_events(snapshot: Snapshot[Any]) -> tuple[str, ...]:
    """Return the types of the events that a machine has transitions for in its current states."""
    types = (transition.event_type for transition in get_next_transitions(snapshot))
    return tuple(dict.fromkeys(type for type in types if type and not is_reserved(type)))


def json_problem(value: Any) -> str | None:
    """Return why a value is not JSON, or None if it is."""
    try:
        if not is_plain(value):
            _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return None
