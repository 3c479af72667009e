"""Situations: a snapshot with its pending events and children, so that a machine can run without actors.

Delayed events are in `pending`; of children only their references are known, as long as they run.
An event that a machine sends to itself without delay is taken right after the step, as in an actor.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from antiphon.chart.effects import Cancel, Effect, Raise, SendTo, SpawnChild, StopChild
from antiphon.chart.errors import LoopError
from antiphon.chart.explore.pending import Pending
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Transition
from antiphon.chart.ops import check_event
from antiphon.chart.plans import plan_for
from antiphon.chart.refs import ActorRef
from antiphon.chart.scope import Facts
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.steps import Microstep, Step, error_snapshot

NOTHING_PENDING = Pending()
SELF = "#_internal"
ENDINGS = ("xstate.done.actor.", "xstate.error.actor.")


@dataclass(frozen=True, slots=True)
class Situation:
    """A snapshot of a machine, its delayed events and its running children."""

    snapshot: Snapshot[Any]
    pending: Pending = NOTHING_PENDING
    working: tuple[ActorRef, ...] = ()

    @property
    def is_over(self) -> bool:
        """True if the machine takes no more events."""
        return self.snapshot.status != "active"


@dataclass(frozen=True, slots=True)
class MachineTurn:
    """One step of a machine: the event, the situation after it, its microsteps, and its effects or error."""

    event: Any
    situation: Situation
    microsteps: tuple[Microstep, ...] = ()
    effects: tuple[Effect, ...] = ()
    error: Exception | None = None

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions taken."""
        return tuple(transition for microstep in self.microsteps for transition in microstep.transitions)


def enter(machine: Machine[Any, Any], input: Any = None) -> list[MachineTurn]:
    """Start a machine: the step that enters it, then the steps of events it sends itself."""
    step = Step(machine, trace=[], facts=Facts(now=0))
    try:
        snapshot = step.begin(input)
        error = None
    except Exception as raised:
        assert step.before is not None  # it is set before anything can raise
        snapshot = error_snapshot(step.before, raised)
        error = raised
    event = {"type": "xstate.init"} if input is None else {"type": "xstate.init", "input": input}
    return _with_own_events(machine, _turn(step, Situation(snapshot), event, error))


def take(machine: Machine[Any, Any], situation: Situation, event: Any) -> list[MachineTurn]:
    """Take an event: its step, then the steps of events the machine sends itself; none if the machine has ended."""
    return [] if situation.is_over else _with_own_events(machine, _take(machine, situation, check_event(event)))


def take_next(machine: Machine[Any, Any], situation: Situation) -> list[MachineTurn]:
    """Advance time to the next delayed event and take it."""
    first = situation.pending.next
    if first is None:
        return []
    return take(machine, replace(situation, pending=situation.pending.after_next()), first.event)


def _take(machine: Machine[Any, Any], situation: Situation, event: Any) -> MachineTurn:
    before = situation.snapshot
    step = Step(machine, trace=[], facts=Facts(now=situation.pending.now))
    try:
        snapshot = step.advance(before, event)
        error = None
    except Exception as raised:
        snapshot = error_snapshot(before, raised)
        error = raised
    return _turn(step, replace(situation, snapshot=snapshot, working=_without_ended(situation, event)), event, error)


def _turn(step: Step, situation: Situation, event: Any, error: Exception | None) -> MachineTurn:
    performed = tuple(step.effects)
    if situation.is_over:
        after = Situation(situation.snapshot, Pending(situation.pending.now))
    else:
        after = _apply_effects(situation, performed)
    return MachineTurn(event, after, _taken_microsteps(step), performed, error)


def _with_own_events(machine: Machine[Any, Any], first: MachineTurn) -> list[MachineTurn]:
    turns = [first]
    waiting = deque(_own_events(first))
    while waiting and not turns[-1].situation.is_over:
        if len(turns) > machine.max_iterations:
            raise LoopError(f"{machine.id}: the machine sends itself events without end after {first.event['type']!r}")
        turns.append(_take(machine, turns[-1].situation, waiting.popleft()))
        waiting.extend(_own_events(turns[-1]))
    return turns


def _own_events(turn: MachineTurn) -> Iterable[Any]:
    for effect in turn.effects:
        if isinstance(effect, SendTo) and effect.target == SELF and effect.delay is None:
            yield effect.event


def _apply_effects(situation: Situation, performed: Iterable[Effect]) -> Situation:
    pending = situation.pending
    working = {ref.id: ref for ref in situation.working}
    for effect in performed:
        match effect:
            case Raise(delay=delay) if delay is not None:
                pending = pending.adding(effect.event, delay, effect.id)
            case SendTo(target=target, delay=delay) if delay is not None and target == SELF:
                pending = pending.adding(effect.event, delay, effect.id)
            case Cancel():
                pending = pending.without(effect.send_id)
            case SpawnChild():
                working[effect.ref.id] = effect.ref
            case StopChild():
                working = {id: ref for id, ref in working.items() if ref is not effect.ref}
    return replace(situation, pending=pending, working=tuple(working.values()))


def _without_ended(situation: Situation, event: Any) -> tuple[ActorRef, ...]:
    type: str = event["type"]
    ended = next((type[len(prefix) :] for prefix in ENDINGS if type.startswith(prefix)), None)
    if ended is None:
        return situation.working
    return tuple(ref for ref in situation.working if ref.id != ended)


def _taken_microsteps(step: Step) -> tuple[Microstep, ...]:
    """Return the microsteps with the transitions taken, where the engine lists all that were selected."""
    before = step.before
    microsteps = []
    for microstep in step.trace or ():
        if len(microstep.transitions) > 1 and before is not None:
            plan = plan_for(before.configuration, microstep.transitions, dict(before.history))
            microstep = microstep._replace(transitions=plan.transitions)
        microsteps.append(microstep)
        before = microstep.snapshot
    return tuple(microsteps)
