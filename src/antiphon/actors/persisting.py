"""An actor's state as JSON-ready values."""

from typing import Any

from antiphon.actors.logic import LogicSnapshot
from antiphon.actors.machines import MachineLogic


def persisted(actor: Any, timers: bool, stamp: bool) -> dict[str, Any]:
    """Where an actor stands, with its children, and if asked for with its pending timers and its machine's version."""
    logic = actor.logic
    is_machine = isinstance(logic, MachineLogic)
    saved = _saved(actor, is_machine, timers, stamp)
    pending = actor.timers.to_json() if timers and actor.has_timers else []
    if pending:
        saved["timers"] = pending
    if stamp and is_machine:
        saved.update(machine=logic.machine.id, version=logic.machine.version)
    return saved


def _saved(actor: Any, is_machine: bool, timers: bool, stamp: bool) -> dict[str, Any]:
    snapshot = actor.snapshot
    if not isinstance(snapshot, LogicSnapshot):
        saved: dict[str, Any] = actor.logic.persist(actor, timers, stamp)
        return saved
    # A machine that could not even be entered has nothing else to say.
    nothing: dict[str, Any] = {"children": {}, "historyValue": {}} if is_machine else {}
    return {**snapshot.to_json(), **nothing}
