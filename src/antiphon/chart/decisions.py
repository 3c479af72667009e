"""Selection of transitions: decided once per configuration and event type, then looked up.

Selection depends on the configuration, the event's type and the outcomes of the guards on the way.
So it is a tree: at each branch one guard is tested, at each leaf the selected transitions are known.
Trees grow along the outcomes that really occur.

Rules, as in XState: (1) the deepest active state with an enabled transition wins; (2) of a node's
candidates the first whose guard holds is taken, exact descriptors before wildcards, longer wildcards
before shorter; (3) every region of a parallel state may react, and only if none does, the state itself.

With the option `scxml`: each active atomic state, in document order, selects the first enabled transition on
the way up to the root, and a guard that raises does not hold and queues `error.execution`.
"""

from collections.abc import Callable, Iterator
from typing import Any, final

from antiphon.chart.configuration import Configuration
from antiphon.chart.errors import GuardError
from antiphon.chart.guards import ScopedTest, guard_name
from antiphon.chart.nodes import Node, Transition, document_order
from antiphon.chart.plans import Plan, plan_for
from antiphon.chart.scope import guard_scope
from antiphon.chart.values import matches_descriptor
from antiphon.chart.work import Work

Outcomes = tuple[bool, ...]
EXECUTION_ERROR = "error.execution"  # SCXML's event


@final
class GuardBranch:
    """A guard to test, and the decisions for both outcomes."""

    __slots__ = ("is_scoped", "no", "outcomes", "test", "transition", "yes")

    def __init__(self, test: Any, transition: Transition, outcomes: Outcomes) -> None:
        self.test = test
        self.is_scoped = isinstance(test, ScopedTest)
        self.transition = transition
        self.outcomes = outcomes
        self.yes: GuardBranch | Leaf | None = None
        self.no: GuardBranch | Leaf | None = None


@final
class Leaf:
    """The selected transitions, and the plan of taking them."""

    __slots__ = ("configuration", "plan", "selected", "variants")

    def __init__(self, configuration: Configuration, selected: tuple[Transition, ...]) -> None:
        self.configuration = configuration
        self.selected = selected
        self.plan: Plan | None = None
        self.variants: dict[Any, Plan] = {}

    def plan_with(self, history: dict[str, tuple[Node, ...]]) -> Plan:
        """Return the plan for a history; it depends on the history only if a target is a history node."""
        if self.plan is not None:
            return self.plan
        machine = self.configuration.machine
        recalled = tuple(history.get(node.id) for node in machine.history_nodes)
        cached = self.variants.get(recalled)
        if cached is not None:
            return cached
        plan = plan_for(self.configuration, self.selected, history)
        if not plan.recalls:
            self.plan = plan
        elif machine.tables.admit(self.configuration):
            self.variants[recalled] = plan
        return plan


class _Untested(Exception):
    """Raised when selection needs the outcome of a guard that has not been tested yet."""

    def __init__(self, test: Any, transition: Transition) -> None:
        self.test = test
        self.transition = transition


def decide(configuration: Configuration, event_type: str, context: Any, event: Any, source: Any = None) -> Leaf:
    """Return the decision about an event, testing the guards on the way; `source` is that of `guard_scope`."""
    decision: GuardBranch | Leaf = configuration.decisions.get(event_type) or _first(configuration, event_type)
    while type(decision) is GuardBranch:
        try:
            if decision.is_scoped:
                passed = decision.test(context, event, guard_scope(source))
            else:
                passed = decision.test(context, event)
        except Exception as error:
            if not _queue_error(source, error):
                raise _guard_error(decision.transition, event_type, error) from error
            passed = False
        decision = (decision.yes if passed else decision.no) or _expand(configuration, decision, event_type, passed)
    return decision


def decide_eventless(configuration: Configuration, context: Any, event: Any, source: Any = None) -> Leaf:
    """Return the decision about eventless transitions, testing the guards on the way."""
    decision: GuardBranch | Leaf = configuration.eventless or _first(configuration, None)
    while type(decision) is GuardBranch:
        try:
            if decision.is_scoped:
                passed = decision.test(context, event, guard_scope(source))
            else:
                passed = decision.test(context, event)
        except Exception as error:
            if not _queue_error(source, error):
                raise
            passed = False
        decision = (decision.yes if passed else decision.no) or _expand(configuration, decision, None, passed)
    return decision


def _first(configuration: Configuration, event_type: str | None) -> "GuardBranch | Leaf":
    decision = _grow(configuration, event_type, ())
    if not configuration.machine.tables.admit(configuration):
        return decision
    if event_type is None:
        configuration.eventless = decision
        return decision
    configuration.decisions[event_type] = decision
    if isinstance(decision, Leaf) and not is_reserved(event_type):
        plan = decision.plan_with({})
        if plan.is_quick:
            configuration.quick[event_type] = plan
    return decision


def is_reserved(event_type: str) -> bool:
    """Return whether an event type is the engine's own; unhandled, some of those end the machine."""
    return event_type[:7] == "xstate."


def _expand(
    configuration: Configuration, branch: GuardBranch, event_type: str | None, passed: Any
) -> GuardBranch | Leaf:
    grown = _grow(configuration, event_type, (*branch.outcomes, bool(passed)))
    if configuration.machine.tables.admit(configuration):
        if passed:
            branch.yes = grown
        else:
            branch.no = grown
    return grown


def _grow(configuration: Configuration, event_type: str | None, outcomes: Outcomes) -> GuardBranch | Leaf:
    remaining = iter(outcomes)
    try:
        if event_type is None:
            selected = _select_upwards(configuration, lambda node: node.always, remaining)
        elif configuration.machine.scxml:
            selected = _select_upwards(configuration, lambda node: _scxml_candidates(node, event_type), remaining)
        else:
            root = configuration.machine.root
            selected = _select(root, configuration.shared_value, event_type, configuration, remaining)
    except _Untested as stop:
        return GuardBranch(stop.test, stop.transition, outcomes)
    return Leaf(configuration, tuple(selected))


def _select(
    node: Node, value: Any, event_type: str, configuration: Configuration, outcomes: Iterator[bool]
) -> list[Transition]:
    inner = {value: {}} if isinstance(value, str) else value
    selected: list[Transition] = []
    for key, below in inner.items():
        selected.extend(_select(node.states[key], below, event_type, configuration, outcomes))
    return selected or _first_enabled(candidates(node, event_type), configuration, outcomes)


def _select_upwards(
    configuration: Configuration, offered: Callable[[Node], tuple[Transition, ...]], outcomes: Iterator[bool]
) -> list[Transition]:
    """Return the first enabled transition of each atomic state and its ancestors; SCXML has document order."""
    selected: dict[Transition, None] = {}
    atoms = configuration.atoms
    if configuration.machine.scxml:
        atoms.sort(key=document_order)
    for atom in atoms:
        for node in (atom, *atom.ancestors()):
            enabled = _first_enabled(offered(node), configuration, outcomes)
            if enabled:
                selected[enabled[0]] = None
                break
    return list(selected)


def _first_enabled(
    transitions: tuple[Transition, ...], configuration: Configuration, outcomes: Iterator[bool]
) -> list[Transition]:
    for transition in transitions:
        test = True if transition.guard is None else transition.guard(configuration)
        if not isinstance(test, bool):
            outcome = next(outcomes, None)
            if outcome is None:
                raise _Untested(test, transition)
            test = outcome
        if test:
            return [transition]
    return []


def candidates(node: Node, event_type: str) -> tuple[Transition, ...]:
    """Return a node's transitions for an event type, best match first."""
    wild = [key for key in node.on if key != event_type and matches_descriptor(event_type, key)]
    wild.sort(key=len, reverse=True)
    transitions = list(node.on.get(event_type, ()))
    for key in wild:
        transitions.extend(node.on[key])
    return tuple(transitions)


def _scxml_candidates(node: Node, event_type: str) -> tuple[Transition, ...]:
    """Return a node's transitions for an event type by the rules of SCXML, where `a` also matches `a.b`."""
    # Done events of the engine end with the id of a state, in which a dot leads to an inner state.
    prefixes = () if is_reserved(event_type) else tuple(key for key in node.on if event_type.startswith(f"{key}."))
    keys = [key for key in node.on if matches_descriptor(event_type, key) or key in prefixes]
    keys.sort(key=lambda key: (key != "*", len(key)), reverse=True)
    return tuple(transition for key in keys for transition in node.on[key])


def _queue_error(source: Any, error: Exception) -> bool:
    """SCXML: queue the event of a guard that raised, and return True; else a guard may not raise."""
    if not isinstance(source, Work) or not source.machine.scxml:
        return False
    source.enqueue({"type": EXECUTION_ERROR, "data": {"reason": str(error)}})
    return True


def _guard_error(transition: Transition, event_type: str, error: Exception) -> GuardError:
    name = guard_name(transition.config.get("guard"))
    guard = f"the guard {name!r}" if name else "a guard"
    place = f"a transition from {transition.source.id!r} on {event_type!r}"
    return GuardError(f"{guard} of {place} raised {type(error).__name__}: {error}")
