"""Random walks through a machine, as a strategy of Hypothesis: a failing walk shrinks to a short one."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from antiphon.chart.explore.offers import FAILURE, Offers, known_events
from antiphon.chart.machine import Machine
from antiphon.chart.snapshot import Snapshot
from antiphon.testing.charts.contracts import Contract
from antiphon.testing.charts.payloads import Strategy, declared_events
from antiphon.testing.charts.walk import Walk, Walker

MAX_STEPS = 30
MORE = 12  # a walk goes on with a probability of about MORE to 1
DONE = "xstate.done.actor."
ERROR = "xstate.error.actor."
NOTHING: Mapping[str, Any] = {}
Payloads = Strategy | Callable[[Snapshot[Any]], Strategy]


def walks(
    machine: Machine[Any, Any],
    *,
    events: Mapping[str, Payloads] = NOTHING,
    outputs: Mapping[str, Strategy] = NOTHING,
    errors: Mapping[str, Strategy] = NOTHING,
    input: Strategy | None = None,
    exclude: Collection[str] = (),
    contracts: Iterable[Contract] = (),
    watchers: Iterable[Machine[Any, Any]] = (),
    max_steps: int = MAX_STEPS,
) -> st.SearchStrategy[Walk]:
    """Return a strategy for walks through a machine.

    A step is an event that some active state reacts to, the next timer, or the result of a running child. The keys of
    events are drawn from `events` by type (a strategy for all keys but `type`, or a function of the snapshot that
    returns one), else from their declared types. `outputs` and `errors` of children are by id or by the name of their
    logic; `exclude` has types of events that never come. Contracts and watchers are checked at every step.
    """
    plan = _Plan(
        machine, _payloads(machine, events, exclude), outputs, errors, tuple(contracts), tuple(watchers), max_steps
    )

    @st.composite
    def walk(draw: Callable[[Strategy], Any]) -> Walk:  # without arguments, which Hypothesis would print
        return _draw_walk(draw, plan, None if input is None else draw(input))

    return walk()


@dataclass(frozen=True, slots=True)
class _Plan:
    """All that the steps of walks are drawn from."""

    machine: Machine[Any, Any]
    payloads: Mapping[str, Payloads]
    outputs: Mapping[str, Strategy]
    errors: Mapping[str, Strategy]
    contracts: tuple[Contract, ...]
    watchers: tuple[Machine[Any, Any], ...]
    max_steps: int

    def offers(self) -> Offers:
        return Offers(self.machine, {"events": [{"type": type} for type in self.payloads]})

    def child_result(self, event: Mapping[str, Any], snapshot: Snapshot[Any]) -> Strategy:
        """Return a strategy for the event with which a child ends."""
        ref = snapshot.children.get(event.get("actorId", ""))
        names = [] if ref is None else [ref.id, ref.src]
        is_done = event["type"].startswith(DONE)
        results = self.outputs if is_done else self.errors
        values = next((results[name] for name in names if name in results), st.none() if is_done else st.just(FAILURE))
        return values.map(lambda value: {**event, "output" if is_done else "error": value})


def _payloads(
    machine: Machine[Any, Any], events: Mapping[str, Payloads], exclude: Collection[str]
) -> dict[str, Payloads]:
    """Return strategies for the keys of each event that may come from outside."""
    types = machine.event_types
    types_in_chart = [event["type"] for event in known_events(machine, {})]
    public = [type for type in types_in_chart if types is None or types.is_public(type)]
    payloads: dict[str, Payloads] = {type: st.just({}) for type in public if "*" not in type}
    payloads |= {**declared_events(types), **events}
    return {type: values for type, values in payloads.items() if type not in exclude}


def _draw_walk(draw: Callable[[Strategy], Any], plan: _Plan, input: Any) -> Walk:
    walker = Walker(plan.machine, plan.contracts, plan.watchers, input)
    offers = plan.offers()
    for _ in range(plan.max_steps):
        possible = [] if walker.situation.is_over else list(offers.at(walker.situation))
        # Each step is drawn as a block that begins with a number, so that Hypothesis can take any of them away.
        if not possible or draw(st.integers(0, MORE)) == 0:
            break
        event, cause = draw(st.sampled_from(possible))
        walker.take(event if cause == "timer" else draw(_events(plan, event, cause, walker)))
    return walker.walk


def _events(plan: _Plan, event: Mapping[str, Any], cause: str, walker: Walker) -> Strategy:
    """Return a strategy for the whole of an event of a type."""
    snapshot = walker.situation.snapshot
    if cause == "child":
        is_ending = event["type"].startswith((DONE, ERROR))
        return plan.child_result(event, snapshot) if is_ending else st.just(event)
    payload = plan.payloads[event["type"]]
    values = payload(snapshot) if callable(payload) and not isinstance(payload, st.SearchStrategy) else payload
    return values.map(lambda keys: {**keys, **event})
