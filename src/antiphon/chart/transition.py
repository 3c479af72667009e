"""The engine as pure functions."""

from collections.abc import Callable
from typing import Any

from antiphon.chart.decisions import decide, is_reserved
from antiphon.chart.effects import Call, Effect, Finish, SpawnChild
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Transition
from antiphon.chart.ops import check_event
from antiphon.chart.plans import Plan
from antiphon.chart.scope import NO_FACTS, Facts
from antiphon.chart.signatures import C, E, F, Later, N
from antiphon.chart.snapshot import Snapshot, make_snapshot
from antiphon.chart.steps import Microstep, Step, Trace

NO_EFFECTS: tuple[Effect, ...] = ()
Outcome = tuple[Snapshot[C, E, N], tuple[Effect, ...]]


def initial_transition(
    machine: Machine[C, E, N],
    input: Any = None,
    *,
    complete: bool = False,
    now: float | None = None,
    new_id: Callable[[], str] | None = None,
    random: Callable[[], float] | None = None,
) -> Outcome[C, E, N]:
    """Return the snapshot a machine starts with, and the effects of entering it.

    `now`, `new_id` and `random` are what `scope` gives to functions under these names.
    """
    step = Step(machine, facts=Facts(now, new_id, random))
    snapshot = step.begin(input)
    return snapshot, _visible_effects(step.effects, complete)


def transition(
    machine: Machine[C, E, N],
    snapshot: Snapshot[C, F, N],
    event: E | Later[Callable[[], E]],
    *,
    complete: bool = False,
    now: float | None = None,
    new_id: Callable[[], str] | None = None,
    random: Callable[[], float] | None = None,
) -> Outcome[C, F, N]:
    """Return the snapshot after an event, and its effects. Nothing is performed.

    The list of effects is XState's; `complete=True` adds what XState hides: children spawned inside an
    assign, and that the machine has ended. `now`, `new_id` and `random` are what `scope` gives to functions under
    these names.
    """
    configuration = snapshot.configuration
    try:
        event_type = event["type"]
        plan = configuration.quick.get(event_type)
    except (TypeError, KeyError):
        check_event(event)
        raise
    if plan is None or snapshot.frame.status != "active":
        facts = NO_FACTS if now is None and new_id is None and random is None else Facts(now, new_id, random)
        if machine.scxml:
            return _step_by_scxml(machine, snapshot, event, facts, complete)
        leaf = decide(configuration, check_event(event)["type"], snapshot.live_context, event, facts)
        plan = leaf.plan
        if plan is None or not plan.is_quick or is_reserved(event_type) or snapshot.frame.status != "active":
            step = Step(machine, facts=facts)
            after = step.advance(snapshot, event, leaf)
            return after, _visible_effects(step.effects, complete)
    after = follow(plan, snapshot, event)
    if not plan.calls:
        return after, NO_EFFECTS
    return after, tuple([Call(op.type, op.function, None, after.live_context, event) for op in plan.call_ops])


def _step_by_scxml(
    machine: Machine[C, E, N], snapshot: Snapshot[C, F, N], event: Any, facts: Facts, complete: bool
) -> Outcome[C, F, N]:
    """Take a step whose guards are tested inside it, because one that raises queues an event."""
    step = Step(machine, facts=facts)
    after = step.advance(snapshot, check_event(event))
    return after, _visible_effects(step.effects, complete)


def follow(plan: Plan, snapshot: Snapshot[C, F, N], event: Any) -> Snapshot[C, F, N]:
    """Return the snapshot after a quick plan without calls."""
    context: Any = snapshot.live_context
    for key, function in plan.assigns:
        value = function(context, event)
        if key is not None:
            context = context.copy()
            context[key] = value
        else:
            context = value
    return make_snapshot(plan.target, context, snapshot.frame) if plan.changes else snapshot


def _visible_effects(effects: list[Effect], complete: bool) -> tuple[Effect, ...]:
    if complete:
        return tuple(effects)
    hidden = (Finish,)
    return tuple(
        effect
        for effect in effects
        if not isinstance(effect, hidden) and not (isinstance(effect, SpawnChild) and effect.assigned)
    )


def get_microsteps(
    machine: Machine[C, E, N],
    snapshot: Snapshot[C, F, N],
    event: E | Later[Callable[[], E]],
    *,
    now: float | None = None,
    new_id: Callable[[], str] | None = None,
    random: Callable[[], float] | None = None,
) -> list[Microstep]:
    """Return the microsteps of a step; an unhandled event is one microstep that does nothing."""
    trace: Trace = []
    Step(machine, None, trace, Facts(now, new_id, random)).advance(snapshot, check_event(event))
    return trace


def get_initial_microsteps(
    machine: Machine[Any, Any],
    input: Any = None,
    *,
    now: float | None = None,
    new_id: Callable[[], str] | None = None,
    random: Callable[[], float] | None = None,
) -> list[Microstep]:
    """Return the microsteps of entering a machine."""
    trace: Trace = []
    Step(machine, None, trace, Facts(now, new_id, random)).begin(input)
    return trace


def get_next_transitions(snapshot: Snapshot[Any]) -> list[Transition]:
    """Return all transitions that could be taken, guards aside, from the deepest states outwards."""
    transitions: list[Transition] = []
    visited = set()
    for atom in snapshot.configuration.atoms:
        for node in (atom, *atom.ancestors()):
            if node not in visited:
                visited.add(node)
                for group in node.on.values():
                    transitions.extend(group)
                transitions.extend(node.always)
    return transitions
