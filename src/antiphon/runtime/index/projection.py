"""Projections: pure functions from a step of a tree to the changes of the index.

A projection sees the root actor and its children before and after a step, and the entry of the step. It is asked only
if one of them has changed, so a step of an actor further down costs nothing. Since it depends on nothing else, the
index can be rebuilt from the journals.
"""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.snapshot import Snapshot
from antiphon.runtime.index.rows import IndexChange
from antiphon.runtime.records import Entry
from antiphon.runtime.store import Projection

UNCHANGED: Any = object()


class Projector:
    """Applies a projection to the steps of a tree; without one, or to trees of other machines, nothing."""

    __slots__ = ("is_covered", "projection", "version")

    def __init__(self, projection: Projection | None = None, machine: str | None = None) -> None:
        self.projection = projection
        self.version = 0 if projection is None else projection.version
        self.is_covered = projection is not None and machine in projection.machines

    def of(self, machine: str) -> "Projector":
        """Return the projector of trees of a machine."""
        return Projector(self.projection, machine)

    def before(self, root: Any, previous: Mapping[Any, Any]) -> Any:
        """Return the state before a step, None if the step was the first, or `UNCHANGED` if it is the same still.

        `previous` has the snapshots that the actors had that took part in the step.
        """
        if self.is_covered:
            for actor, snapshot in previous.items():
                if (actor is root or actor.parent is root) and actor.snapshot is not snapshot:
                    return _view(previous.get(root, root.snapshot), previous)
        return UNCHANGED

    def project(self, before: Any, root: Any, entry: Entry) -> IndexChange | None:
        """Return the changes of a step from a state before it to the present one."""
        if self.projection is None or not self.is_covered or before is UNCHANGED:
            return None
        return self.projection.project(before, _view(root.snapshot, {}) or {}, entry)

    def view(self, root: Any) -> Any:
        """Return the present state."""
        return _view(root.snapshot, {}) if self.is_covered else UNCHANGED


NO_PROJECTION = Projector()


def _view(root: Any, previous: Mapping[Any, Any]) -> dict[str, Any] | None:
    """Return a root actor with its children in the form of a snapshot; None before the first step."""
    if root is None:
        return None
    children: dict[str, Any] = {}
    for id, ref in root.children.items():
        actor = None if ref is None else ref.actor
        snapshot = None if actor is None else previous.get(actor, actor.snapshot)
        if type(snapshot) is Snapshot:
            children[id] = {"snapshot": _state(snapshot)}
    return {**_state(root), "children": children}


def _state(snapshot: Any) -> dict[str, Any]:
    return {
        "value": snapshot.configuration.shared_value,
        "status": snapshot.frame.status,
        "context": snapshot.context,
    }
