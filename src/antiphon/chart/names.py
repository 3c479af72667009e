"""Functions bound to a chart's names, and the resolution of the chart's references to them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from antiphon.chart import ops
from antiphon.chart.actions import Action, Enqueue, bind_params
from antiphon.chart.checks.event_types import EventTypes
from antiphon.chart.functions import full, plain
from antiphon.chart.guards import And, Bound, Not, Or, StateIn, bind_guard, guard_name, holds
from antiphon.chart.work import Work

Problem = Callable[[str, str, Mapping[str, Any]], None]  # (path, problem, known names)
INVOKE_PREFIX = "xstate.invoke."


class Implementations:
    """Actions, guards, actors and delays by name, and the events that are declared."""

    __slots__ = ("_operations", "actions", "actors", "delays", "event_types", "guards", "inline_actors")

    def __init__(
        self,
        actions: Mapping[str, Any] | None = None,
        guards: Mapping[str, Any] | None = None,
        actors: Mapping[str, Any] | None = None,
        delays: Mapping[str, Any] | None = None,
        event_types: EventTypes | None = None,
    ) -> None:
        self.event_types = event_types
        self.actions = dict(actions or {})
        self.guards = dict(guards or {})
        self.actors = dict(actors or {})
        self.delays = dict(delays or {})
        # Logic that stands in an `invoke` itself; its place becomes its name, so that it can be persisted.
        self.inline_actors: dict[str, Any] = {}
        self._operations: dict[str, ops.Operation] = {}

    def merge(self, other: "Implementations") -> "Implementations":
        """Return these, overridden by those of `other`."""
        return Implementations(
            {**self.actions, **other.actions},
            {**self.guards, **other.guards},
            {**self.actors, **other.actors},
            {**self.delays, **other.delays},
            other.event_types or self.event_types,
        )

    def set_public(self, public: Iterable[str]) -> None:
        """Replace the list of events that may come from outside."""
        self.event_types = (self.event_types or EventTypes()).with_public(public)

    def operation(self, spec: Any) -> ops.Operation:
        """Return the operation of an action as a chart writes it."""
        if isinstance(spec, str):
            operation = self._operations.get(spec)
            if operation is None:
                operation = self._operations[spec] = self._bind_name(spec, None)
            return operation
        if isinstance(spec, Mapping):
            return self._bind_name(spec["type"], spec.get("params"))
        if isinstance(spec, Action):
            return spec.bind(self)
        return _call(getattr(spec, "__name__", "(anonymous)"), spec, None)

    def guard(self, spec: Any) -> Bound:
        """Return the bound guard of a name, a function or a combination."""
        return bind_guard(spec, self.guards)

    def logic(self, src: Any) -> Any:
        """Return the actor logic of a name; logic that is not a name is returned as it is."""
        if not isinstance(src, str):
            return src
        logic = self.inline_actors.get(src)
        return logic if logic is not None else self.actors.get(src)

    def enqueuer(self, chosen: list[Any], work: Work, params: Any) -> Enqueue:
        """Return the object that a function of `enqueue_actions` enqueues its actions with."""

        def check(spec: Any) -> bool:
            test = self.guard(spec)(work.configuration)
            return bool(holds(test, work.context, work.event, work.scope()))

        return Enqueue(chosen, check, params)

    def _bind_name(self, name: str, params: Any) -> ops.Operation:
        action = self.actions.get(name)
        if isinstance(action, Action):
            return action.bind(self, params)
        return _call(name, action, params)


def _call(name: str, function: Any, params: Any) -> ops.Operation:
    values = None if params is None else bind_params(params)
    if function is None:  # only in relaxed machines: an action without implementation does nothing
        return ops.CallOp(name, None, None, values)
    return ops.CallOp(name, full(function), plain(function), values)


def check_action(spec: Any, names: Implementations, path: str, problem: Problem) -> None:
    """Report a value that is not an action, or an action with a name that is not implemented."""
    if isinstance(spec, Action):
        if spec.actor is not None and names.logic(spec.actor) is None:
            problem(path, f"no actor named {spec.actor!r}", names.actors)
        if spec.delay is not None and spec.delay not in names.delays:
            problem(path, f"no delay named {spec.delay!r}", names.delays)
        return
    name = spec.get("type") if isinstance(spec, Mapping) else spec
    if isinstance(name, str):
        if name not in names.actions:
            problem(path, f"no action named {name!r}", names.actions)
        elif isinstance(names.actions[name], Action):
            check_action(names.actions[name], names, path, problem)
    elif isinstance(spec, Mapping) or not callable(spec):
        problem(path, f"an action is a name, {{'type': name}}, a function or a built-in action, not {spec!r}", {})


def check_guard(spec: Any, names: Implementations, path: str, problem: Problem) -> None:
    """Report a value that is not a guard, or a guard with a name that is not implemented."""
    match spec:
        case And(inner) | Or(inner):
            for guard in inner:
                check_guard(guard, names, path, problem)
        case Not(guard):
            check_guard(guard, names, path, problem)
        case StateIn():
            pass
        case _ if isinstance(guard_name(spec), str):
            if guard_name(spec) not in names.guards:
                problem(path, f"no guard named {guard_name(spec)!r}", names.guards)
        case _ if not callable(spec):
            problem(path, f"a guard is a name, {{'type': name}}, a function or a combination, not {spec!r}", {})
