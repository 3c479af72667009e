"""Actors as JSON-ready values, and back."""

from typing import Any

from antiphon.actors.logic import LogicSnapshot, load_logic_snapshot
from antiphon.actors.machines import MachineLogic
from antiphon.actors.timers import saved_timers
from antiphon.chart.errors import SnapshotError
from antiphon.chart.snapshot import Snapshot


def persist_actor(actor: Any, timers: bool, stamp: bool) -> dict[str, Any]:
    """Return the state of an actor and its children, with pending timers and the machine's version on request."""
    logic = actor.logic
    is_machine = isinstance(logic, MachineLogic)
    saved = _persist_snapshot(actor, is_machine, timers, stamp)
    pending = actor.timers.to_json() if timers and actor.has_timers else []
    if pending:
        saved["timers"] = pending
    if stamp and is_machine:
        saved.update(machine=logic.machine.id, version=logic.machine.version)
    return saved


def _persist_snapshot(actor: Any, is_machine: bool, timers: bool, stamp: bool) -> dict[str, Any]:
    snapshot = actor.snapshot
    if not isinstance(snapshot, LogicSnapshot):
        saved: dict[str, Any] = actor.logic.persist(actor, timers, stamp)
        return saved
    # A machine that could not be entered has no other values.
    nothing: dict[str, Any] = {"children": {}, "historyValue": {}} if is_machine else {}
    return {**snapshot.to_json(), **nothing}


def restore_snapshot(actor: Any, saved: Any) -> Any:
    """Return the snapshot an actor continues from; raise SnapshotError if any part of it is wrong."""
    if isinstance(saved, LogicSnapshot):
        return saved
    if isinstance(saved, Snapshot):
        return actor.logic.adopt(actor, saved)
    is_machine = isinstance(actor.logic, MachineLogic)
    try:
        timers = saved_timers(saved)
        if timers:
            actor.timers.hold(timers)
        return actor.logic.restore(actor, saved) if is_machine else load_logic_snapshot(saved)
    except Exception as error:
        if is_machine and not actor.logic.machine.strict:
            return LogicSnapshot("error", error=error)
        if isinstance(error, SnapshotError):
            raise
        raise SnapshotError(f"{actor.id}: the snapshot cannot be restored: {error!r}") from error
