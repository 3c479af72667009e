"""Events from outside: they are JSON, they are not the engine's own, and a machine takes some of them."""

import json
from typing import Any

from antiphon.chart.decisions import is_reserved
from antiphon.chart.errors import EventError
from antiphon.chart.ops import check_event
from antiphon.chart.persist import is_plain
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.transition import get_next_transitions

_encode = json.JSONEncoder(allow_nan=False).encode  # made once: json.dumps would make one for every event
OWN = ("xstate.", "antiphon.")


def admissible(event: Any) -> Any:
    """The event, if anyone may send it and it can be stored."""
    kind: str = check_event(event)["type"]
    if kind.startswith(OWN) and kind != "xstate.route":
        raise EventError(f"{kind!r} is an event of the engine's own and cannot be sent from outside")
    problem = not_json(event)
    if problem is not None:
        raise EventError(f"the event {kind!r} cannot be stored: {problem}")
    return event


def acceptable_events(snapshot: Snapshot[Any]) -> tuple[str, ...]:
    """The types of the events that a machine has transitions for now."""
    types = (transition.event_type for transition in get_next_transitions(snapshot))
    return tuple(dict.fromkeys(type for type in types if type and not is_reserved(type)))


def not_json(value: Any) -> str | None:
    """Why a value is not JSON, if it is not."""
    try:
        if not is_plain(value):
            _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return None
