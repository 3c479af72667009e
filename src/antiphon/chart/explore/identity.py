"""Keys of situations: two situations with the same text are the same."""

import json
from collections.abc import Mapping
from typing import Any

from antiphon.chart.explore.situation import Situation
from antiphon.chart.snapshot import Snapshot


def serialize(snapshot: Snapshot[Any]) -> str:
    """Return a snapshot's value and context as JSON, with status and output once it has ended."""
    parts = {"value": snapshot.value, "context": snapshot.context}
    if snapshot.status != "active":
        parts.update(status=snapshot.status, output=snapshot.output)
    return as_text({key: part for key, part in parts.items() if part not in (None, {})})


def serialize_hidden(situation: Situation) -> str:
    """Return the timers, children and history of a situation, which its snapshot's text leaves out."""
    pending = situation.pending
    history = situation.snapshot.history
    parts = {
        "timers": [
            [_round_ms(event.due - pending.now), event.event, event.id if event.can_be_cancelled else None]
            for event in pending.events
        ],
        "working": [[ref.id, ref.src] for ref in situation.working],
        "history": {id: [node.id for node in nodes] for id, nodes in history.items()},
    }
    return "".join(f" {key}={as_text(part)}" for key, part in parts.items() if part)


def _round_ms(ms: float) -> float:
    return round(ms, 3)  # sums of delays such as 0.1 are not exact


def as_text(value: Any) -> str:
    """Return a value as JSON, the same for equal values; a value that JSON cannot hold becomes a string."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=_plain)
    except TypeError:  # keys that are no strings, or cannot be sorted
        return repr(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if hasattr(value, "send") and hasattr(value, "id"):
        return {"actor": value.id}
    return str(value)
