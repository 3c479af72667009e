"""Functions bound to a chart's names, and the resolution of the chart's references to them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from antiphon.chart import ops
from antiphon.chart.actions import Action, Enqueue, bind_params
from antiphon.chart.checks.event_types import EventTypes
from antiphon.chart.functions import ARGUMENTS, full, misfit, plain, shape
from antiphon.chart.guards import And, Bound, Not, Or, StateIn, bind_guard, guard_name, holds
from antiphon.chart.work import Work

Problem = Callable[[str, str, Mapping[str, Any]], None]  # (path, problem, known names)
INVOKE_PREFIX = "xstate.invoke."
COLLECT_ARGUMENTS = ("context", "event", "enqueue")  # of a function for `enqueue_actions`


class Implementations:
    """Actions, guards, actors and delays by name, and the events that are declared."""

    __slots__ = (
        "_operations",
        "actions",
        "actors",
        "checked_actions",
        "checked_guards",
        "delays",
        "event_types",
        "guards",
        "inline_actors",
        "receiving",
        "resolve",
    )

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
        # Set by the loader of SCXML documents: an operation before each event, and logic for names not listed.
        self.receiving: ops.Operation | None = None
        self.resolve: Callable[[str], Any] | None = None
        # Names that need no more checks, because a chart may mention them very often.
        self.checked_actions: set[str] = set()
        self.checked_guards: set[str] = set()

    def merge(self, other: "Implementations") -> "Implementations":
        """Return these, overridden by those of `other`."""
        merged = Implementations(
            {**self.actions, **other.actions},
            {**self.guards, **other.guards},
            {**self.actors, **other.actors},
            {**self.delays, **other.delays},
            other.event_types or self.event_types,
        )
        merged.receiving = other.receiving or self.receiving
        merged.resolve = other.resolve or self.resolve
        return merged

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
        if logic is None:
            logic = self.actors.get(src)
        return self.resolve(src) if logic is None and self.resolve is not None else logic

    def enqueuer(self, chosen: list[Any], work: Work, params: Any) -> Enqueue:
        """Return the object that a function of `enqueue_actions` enqueues its actions with."""

        def check(spec: Any) -> bool:
            test = self.guard(spec)(work.active_states())
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
    takes = shape(function)
    return ops.CallOp(name, full(function, takes), plain(function, takes), values)


def check_action(spec: Any, names: Implementations, path: str, problem: Problem) -> None:
    """Report a value that is not an action, a name that is not implemented, or a function that cannot be called."""
    if isinstance(spec, Action):
        _check_builtin(spec, names, path, problem)
        return
    if isinstance(spec, str) and spec in names.checked_actions:
        return
    name = spec.get("type") if isinstance(spec, Mapping) else spec
    if isinstance(name, str):
        if name not in names.actions:
            problem(path, f"no action named {name!r}", names.actions)
        elif isinstance(names.actions[name], Action):
            names.checked_actions.add(name)
            _check_builtin(names.actions[name], names, path, problem)
        else:
            names.checked_actions.add(name)
            check_function(names.actions[name], "action", name, path, problem)
        if isinstance(spec, Mapping):
            check_function(spec.get("params"), "function", "", f"{path}.params", problem)
    elif isinstance(spec, Mapping) or not callable(spec):
        problem(path, f"an action is a name, {{'type': name}}, a function or a built-in action, not {spec!r}", {})
    else:
        check_function(spec, "action", "", path, problem)


def _check_builtin(action: Action, names: Implementations, path: str, problem: Problem) -> None:
    if action.actor is not None and names.logic(action.actor) is None:
        problem(path, f"no actor named {action.actor!r}", names.actors)
    if action.delay is not None and action.delay not in names.delays:
        problem(path, f"no delay named {action.delay!r}", names.delays)
    _check_values(action, path, problem)


def _check_values(action: Action, path: str, problem: Problem) -> None:
    if action.logic is not None:
        check_logic(action.logic, path, problem)
    arguments = COLLECT_ARGUMENTS if action.type == "xstate.enqueueActions" else ARGUMENTS
    for value in action.values:
        check_function(value, "function", "", path, problem, arguments)


def check_guard(spec: Any, names: Implementations, path: str, problem: Problem) -> None:
    """Report a value that is not a guard, a name that is not implemented, or a function that cannot be called."""
    match spec:
        case And(inner) | Or(inner):
            for guard in inner:
                check_guard(guard, names, path, problem)
        case Not(guard):
            check_guard(guard, names, path, problem)
        case StateIn():
            pass
        case _ if isinstance(name := guard_name(spec), str):
            if name not in names.guards:
                problem(path, f"no guard named {name!r}", names.guards)
            elif name not in names.checked_guards:
                names.checked_guards.add(name)
                check_function(names.guards[name], "guard", name, path, problem)
            if isinstance(spec, Mapping):
                check_function(spec.get("params"), "function", "", f"{path}.params", problem)
        case _ if not callable(spec):
            problem(path, f"a guard is a name, {{'type': name}}, a function or a combination, not {spec!r}", {})
        case _:
            check_function(spec, "guard", "", path, problem)


def check_names(names: Implementations, problem: Problem) -> None:
    """Report functions and actors that cannot be used, also where the chart does not mention their names."""
    for name in names.actions.keys() - names.checked_actions:
        path = f"actions.{name}"
        action = names.actions[name]
        if isinstance(action, Action):
            _check_values(action, path, problem)
        else:
            check_function(action, "action", name, path, problem)
    for name, guard in names.guards.items():
        if name not in names.checked_guards or isinstance(guard, And | Or | Not):
            for function in _functions_in(guard):
                check_function(function, "guard", name, f"guards.{name}", problem)
    for name, delay in names.delays.items():
        check_function(delay, "delay", name, f"delays.{name}", problem)
    for name, logic in names.actors.items():
        check_logic(logic, f"actors.{name}", problem)


def _functions_in(guard: Any) -> list[Any]:
    match guard:
        case And(inner) | Or(inner):
            return [function for each in inner for function in _functions_in(each)]
        case Not(each):
            return _functions_in(each)
    return [guard]


def check_function(
    value: Any, role: str, name: str, path: str, problem: Problem, arguments: Sequence[str] = ARGUMENTS
) -> None:
    """Report a function that cannot be called with the arguments it is given; other values are constants."""
    if callable(value) and (reason := misfit(value, arguments)):
        problem(path, f"the {role} {name or _name_of(value)!r} {reason}", {})


def check_logic(logic: Any, path: str, problem: Problem) -> None:
    """Report a function or a class that stands in the place of actor logic."""
    if not callable(logic) or (hasattr(logic, "begin") and not isinstance(logic, type)):
        return
    if isinstance(logic, type):
        problem(path, f"the class {_name_of(logic)!r} is not actor logic; create an instance of it", {})
    name = _name_of(logic)
    problem(
        path,
        f"the function {name!r} is not actor logic; make it that with from_task({name}) if it has one result, "
        f"from_stream({name}) if it is an async iterator, from_callback({name}) if it sends events, "
        f"or from_transition({name}, initial) if it is a reducer",
        {},
    )


def _name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
