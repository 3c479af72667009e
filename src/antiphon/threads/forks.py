"""Forks of threads: the id in the input and in the snapshots of the actors becomes that of the fork."""

from typing import Any

NAMED = ("threadId", "id")


def rename_thread(input: Any, snapshot: Any, old: str, new: str) -> tuple[Any, Any]:
    """Return the input and the snapshot of a thread under another id; both are changed in place."""
    _rename(input, old, new)
    _rename_actors(snapshot, old, new)
    return input, snapshot


def _rename_actors(snapshot: Any, old: str, new: str) -> None:
    context = snapshot.get("context")
    if isinstance(context, dict):
        _rename(context, old, new)
    for child in (snapshot.get("children") or {}).values():
        _rename_actors(child["snapshot"], old, new)


def _rename(facts: dict[str, Any], old: str, new: str) -> None:
    """Replace the id of a thread in a context or an input, and in the settings there."""
    for place in (facts, facts.get("config")):
        if isinstance(place, dict):
            place.update({key: new for key in NAMED if place.get(key) == old})
