"""Machine actors: steps are computed, and their effects performed.

Effects are performed in two passes, as in XState. During the step, users' actions run, children are
created and stopped children release their system ids. After its snapshot is published, events are
delivered, timers set, children started and stopped, so that every receiver sees the new snapshot.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from antiphon.actors.errors import ActorError
from antiphon.actors.observers import call_safely
from antiphon.chart import effects
from antiphon.chart.decisions import Leaf, decide, is_reserved
from antiphon.chart.machine import Machine
from antiphon.chart.ops import check_event
from antiphon.chart.persist import from_json, migrate_snapshot, to_json, with_own_children
from antiphon.chart.plans import Plan
from antiphon.chart.refs import ActorRef
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.steps import Step, Trace, error_snapshot
from antiphon.chart.transition import follow


def as_logic(logic: Any) -> Any:
    """Return the logic of an actor: a machine is wrapped, other kinds are logic already."""
    return MachineLogic(logic) if isinstance(logic, Machine) else logic


def admit(actor: Any, event: Any) -> Any:
    """Return an event that is sent to an actor; raise `EventRefused` if its machine checks events and refuses it."""
    check_event(event)
    if checks_events(actor.logic):
        actor.logic.machine.event_types.require(event)
    return event


def checks_events(logic: Any) -> bool:
    """Return whether the events that are sent to an actor are checked."""
    types = logic.machine.event_types if isinstance(logic, MachineLogic) else None
    return types is not None and types.in_process


def may_be_quick(actor: Any) -> bool:
    """Return whether a started actor may take the quick path: it runs a machine, unchecked and without a hook."""
    logic = actor.logic
    if actor.system.unhandled is not None or not isinstance(logic, MachineLogic):
        return False
    types = logic.machine.event_types
    if logic.machine.scxml:
        return False  # what comes before an event, and guards that raise, belong to the step
    return actor.snapshot.status == "active" and (types is None or not types.in_process)


def quick_plan(actor: Any, event: Any) -> Plan | None:
    """Test the guards of an event and return its plan if it is quick; otherwise take the event and return None."""
    snapshot = actor.snapshot
    event_type = event["type"]
    if type(event_type) is not str:
        check_event(event)
    actor.is_idle = False
    try:
        leaf = decide(snapshot.configuration, event_type, snapshot.live_context, event, actor)
    except Exception as error:
        actor.fail(error)
        return None
    actor.is_idle = True
    plan = leaf.plan
    if plan is not None and plan.is_quick and not is_reserved(event_type):
        return plan
    actor.receive(event, leaf)
    return None


class MachineLogic:
    """The logic of actors that run a machine."""

    __slots__ = ("machine",)

    def __init__(self, machine: Machine[Any, Any]) -> None:
        self.machine = machine

    def begin(self, actor: Any) -> Any:
        """Enter the machine; its children are created, the other effects wait until the actor starts."""
        trace: Trace | None = None if actor.system.inspectors is None else []
        step = Step(self.machine, actor, trace)
        try:
            try:
                snapshot = step.begin(actor.input)
            finally:
                self._prepare_traced(actor, step, self._create_child)
        except Exception as error:
            if step.before is None:
                raise
            return error_snapshot(step.before, error)
        actor.pending = step.effects
        return snapshot

    def restore(self, actor: Any, persisted: Any) -> Any:
        """Return the snapshot that was persisted, with its children created."""

        def make_child(id: str, data: Mapping[str, Any], logic: Any) -> ActorRef:
            ref = ActorRef(id, data.get("src"), logic, None, data.get("systemId"), bool(data.get("syncSnapshot")))
            actor.spawn(ref, data["snapshot"])
            return ref

        return from_json(self.machine, migrate_snapshot(self.machine, persisted), make_child)

    def adopt(self, actor: Any, snapshot: Any) -> Any:
        """Return a snapshot of the pure functions or of another actor, with children of its own."""

        def make_child(ref: ActorRef) -> ActorRef:
            saved = None if ref.actor is None else ref.actor.get_persisted_snapshot()
            own = ActorRef(ref.id, ref.src, ref.logic, ref.input, ref.system_id, ref.sync_snapshot)
            actor.spawn(own, saved)
            return own

        return with_own_children(snapshot, make_child)

    def start(self, actor: Any) -> None:
        """Start the children that the first snapshot has."""
        for ref in list(actor.snapshot.children.values()):
            if ref is None:
                raise _missing_logic(actor)
            if ref.get_snapshot().status == "active":
                ref.actor.start()

    def receive(self, actor: Any, event: Any, decided: Leaf | None = None) -> Any:
        """Take a step; `decided` is its decision, if it has been made already.

        The first pass over its effects is done when this returns; the second is pending.
        """
        snapshot = actor.snapshot
        system = actor.system
        plan = snapshot.configuration.quick.get(event["type"])
        if plan is not None and plan.transitions and not plan.calls and system.inspectors is None:
            return follow(plan, snapshot, event)  # no effects, and no inspectors
        trace: Trace | None = None if system.inspectors is None else []
        step = Step(self.machine, actor, trace)
        try:
            snapshot = step.advance(snapshot, event, decided)
        except Exception:
            # Actions before the error are called, as XState calls them during the step; events are not sent.
            self._prepare_traced(actor, step, self.prepare)
            raise
        if trace is None:
            self._prepare_quietly(actor, step.work.effects)
        else:
            self._prepare_traced(actor, step, self.prepare)
        actor.pending = step.work.effects
        unhandled = system.unhandled
        if unhandled is not None and not step.handled and not is_reserved(event["type"]):
            call_safely(unhandled, event, snapshot)
        return snapshot

    def persist(self, actor: Any, timers: bool, stamp: bool) -> dict[str, Any]:
        """Return the snapshots of the machine and its children as JSON-ready values."""
        return to_json(actor.snapshot, lambda ref: ref.actor.get_persisted_snapshot(timers=timers, stamp=stamp))

    def _prepare_traced(self, actor: Any, step: Step, prepare: Callable[[Any, effects.Effect], None]) -> None:
        """Prepare the effects of a step in order, notifying inspectors of each microstep in its place."""
        start = 0
        for microstep, end in zip(step.trace or (), step.marks, strict=True):
            for effect in step.effects[start:end]:
                prepare(actor, effect)
            # Entering the initial state is part of creating the actor, not a microstep of its own.
            if microstep is not step.entering:
                actor.system.notify(
                    "@xstate.microstep",
                    actor,
                    event=microstep.event,
                    snapshot=microstep.snapshot,
                    transitions=microstep.transitions,
                )
            start = end
        for effect in step.effects[start:] if start else step.effects:
            prepare(actor, effect)

    def _prepare_quietly(self, actor: Any, pending: Iterable[Any]) -> None:
        """Make the first pass over the effects of a step without inspectors."""
        for effect in pending:
            first = FIRST.get(type(effect))
            if first is not None:
                first(actor, effect)

    def _create_child(self, actor: Any, effect: effects.Effect) -> None:
        if isinstance(effect, effects.SpawnChild):
            actor.spawn(effect.ref)

    def prepare(self, actor: Any, effect: effects.Effect, starting: bool = False) -> None:
        """Make the first pass over an effect; when a machine starts, its children exist already."""
        inspected = actor.system.inspectors is not None
        if isinstance(effect, effects.SpawnChild):
            if not starting:
                actor.spawn(effect.ref)
            if inspected and not effect.assigned:
                actor.system.notify("@xstate.action", actor, action=effect)
        elif not isinstance(effect, effects.Finish):
            if inspected:
                actor.system.notify("@xstate.action", actor, action=effect)
            first = FIRST.get(type(effect))
            if first is not None:
                first(actor, effect)


def _missing_logic(actor: Any) -> ActorError:
    id = next(id for id, ref in actor.snapshot.children.items() if ref is None)
    return ActorError(f"actor {actor.id!r} cannot start its child {id!r}, whose logic is not under actors")


def deliver(actor: Any, pending: Iterable[effects.Effect]) -> None:
    """Make the second pass over the effects of a step."""
    for effect in pending:
        second = SECOND.get(type(effect))
        if second is not None:
            second(actor, effect)


def _call(actor: Any, effect: effects.Call) -> None:
    actor.system.host.call(actor, effect)


def _log(actor: Any, effect: effects.Log) -> None:
    actor.system.logger(*(part for part in (effect.label,) if part), effect.value)


def _release_child(actor: Any, effect: effects.StopChild) -> None:
    child = effect.ref.actor
    _release_all(actor.system, child)
    if not child.is_running:
        child.end()


def _send(actor: Any, effect: effects.SendTo) -> None:
    target = _addressee(actor, effect.target)
    if effect.delay is None:
        actor.system.relay(actor, target, effect.event)
    else:
        actor.system.host.set_timer(actor, target, effect.event, effect.delay, effect.id)


def _raise_later(actor: Any, effect: effects.Raise) -> None:
    if effect.delay is not None:
        actor.system.host.set_timer(actor, actor, effect.event, effect.delay, effect.id)


def _cancel(actor: Any, effect: effects.Cancel) -> None:
    actor.system.host.cancel_timer(actor, effect.send_id, every=bool(effect.every))


def _emit(actor: Any, effect: effects.Emit) -> None:
    actor.system.host.emit(actor, effect.event)


def _spawn(actor: Any, effect: effects.SpawnChild) -> None:
    actor.spawn(effect.ref)


def _start(actor: Any, effect: effects.SpawnChild) -> None:
    if not effect.ref.actor.is_stopped:
        effect.ref.actor.start()


def _end(actor: Any, effect: effects.StopChild) -> None:
    effect.ref.actor.end()


# The functions of both passes, by kind of effect.
FIRST: dict[type[effects.Effect], Callable[[Any, Any], None]] = {
    effects.Call: _call,
    effects.Log: _log,
    effects.SpawnChild: _spawn,
    effects.StopChild: _release_child,
}
SECOND: dict[type[effects.Effect], Callable[[Any, Any], None]] = {
    effects.SendTo: _send,
    effects.Raise: _raise_later,
    effects.Cancel: _cancel,
    effects.Emit: _emit,
    effects.SpawnChild: _start,
    effects.StopChild: _end,
}


def _release_all(system: Any, actor: Any) -> None:
    """Release the system ids of an actor and its descendants at once, so that a successor may claim them."""
    snapshot = actor.snapshot
    for ref in snapshot.children.values() if isinstance(snapshot, Snapshot) else ():
        if ref is not None:
            _release_all(system, ref.actor)
    if actor.system_id is not None:
        system.release(actor)


def _addressee(actor: Any, target: Any) -> Any:
    if target == "#_parent":
        return actor.parent
    if target == "#_internal":
        return actor
    return target.actor if isinstance(target, ActorRef) else target
