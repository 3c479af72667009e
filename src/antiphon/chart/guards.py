"""Guards: conditions on transitions, and their combinations.

A guard is bound twice: its names when the machine is built, its configuration when a decision is made.
`state_in` depends on the configuration alone, so it costs nothing per event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol

from antiphon.chart.errors import GuardError
from antiphon.chart.functions import full, plain, shape
from antiphon.chart.scope import Scope
from antiphon.chart.signatures import C, C_in, E, E_in, Function

Test = Callable[[Any, Any], Any]


class ScopedTest:
    """A test of context and event that also needs the scope."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[Any, Any, Scope | None], Any]) -> None:
        self._function = function

    def __call__(self, context: Any, event: Any, scope: Scope | None) -> Any:
        """Test the guard."""
        return self._function(context, event, scope)


AnyTest = Test | ScopedTest


class ActiveStates(Protocol):
    """The configuration as `state_in` sees it."""

    def includes(self, value: Any) -> bool:
        """Return whether a state, by `#id` or by value, is active."""
        ...

    @property
    def members(self) -> frozenset[Any]:
        """The active nodes."""
        ...


# A guard whose names are bound: in a configuration it is either decided, or a test of context and event.
Bound = Callable[[ActiveStates], bool | AnyTest]


class And(NamedTuple, Generic[C_in, E_in]):
    """All of the guards hold."""

    guards: tuple[Any, ...]


class Or(NamedTuple, Generic[C_in, E_in]):
    """Any of the guards holds."""

    guards: tuple[Any, ...]


class Not(NamedTuple, Generic[C_in, E_in]):
    """The guard does not hold."""

    guard: Any


class StateIn(NamedTuple):
    """A state, by `#id` or by value, is active."""

    value: Any


class StateGuard(NamedTuple):
    """A guard that is also given its params and the active nodes: `function(context, event, params, nodes)`."""

    function: Callable[[Any, Any, Any, Any], Any]


# A guard as charts write it and as names are bound to it.
Guard = str | Mapping[str, Any] | Function[C, E, Any] | And[C, E] | Or[C, E] | Not[C, E] | StateIn


def and_(guards: Sequence[Guard[C, E]]) -> And[C, E]:
    """Return a guard that holds when all of `guards` do."""
    return And(tuple(guards))


def or_(guards: Sequence[Guard[C, E]]) -> Or[C, E]:
    """Return a guard that holds when any of `guards` does."""
    return Or(tuple(guards))


def not_(guard: Guard[C, E]) -> Not[C, E]:
    """Return a guard that holds when `guard` does not."""
    return Not(guard)


def state_in(value: Any) -> StateIn:
    """Return a guard that holds while a state is active; `value` is an `#id` or a state value."""
    return StateIn(value)


def guard_name(spec: Any) -> str | None:
    """Return the name by which a guard is referred to, or None."""
    if isinstance(spec, str):
        return spec
    return spec.get("type") if isinstance(spec, Mapping) else None


def bind_guard(spec: Any, guards: Mapping[str, Any], params: Any = None) -> Bound:
    """Resolve the names in a guard; an unknown one fails when it is tested, as in XState."""
    match spec:
        case And(inner):
            return _all([bind_guard(guard, guards) for guard in inner])
        case Or(inner):
            return _any([bind_guard(guard, guards) for guard in inner])
        case Not(guard):
            return _negation(bind_guard(guard, guards))
        case StateIn(value):
            return lambda states: states.includes(value)
        case StateGuard(function):
            return lambda states: _test_of_states(function, params, states.members)
    name = guard_name(spec)
    if name is None:
        test = _test(spec, params)
        return lambda states: test
    if name not in guards:
        missing = _missing(name)
        return lambda states: missing
    own_params = spec.get("params") if isinstance(spec, Mapping) else None
    return bind_guard(guards[name], guards, own_params)


def _test(function: Callable[..., Any], params: Any) -> AnyTest:
    simple = plain(function)
    if simple is not None:
        return simple
    if not (callable(params) or shape(function).scoped):
        return lambda context, event: function(context, event, params)
    everything = full(function)
    if callable(params):
        compute = full(params)
        return ScopedTest(
            lambda context, event, scope: everything(context, event, compute(context, event, None, scope), scope)
        )
    return ScopedTest(lambda context, event, scope: everything(context, event, params, scope))


def _test_of_states(function: Callable[..., Any], params: Any, nodes: frozenset[Any]) -> Test:
    return lambda context, event: function(context, event, params, nodes)


def _missing(name: str) -> Test:
    def fail(context: Any, event: Any) -> bool:
        raise GuardError(f"no guard named {name!r}; implement it under guards")

    return fail


def _negation(inner: Bound) -> Bound:
    def bind(states: ActiveStates) -> bool | AnyTest:
        test = inner(states)
        if isinstance(test, bool):
            return not test
        if isinstance(test, ScopedTest):
            return ScopedTest(lambda context, event, scope: not test(context, event, scope))
        return lambda context, event: not test(context, event)

    return bind


def _all(parts: list[Bound]) -> Bound:
    return _combination(parts, all)


def _any(parts: list[Bound]) -> Bound:
    return _combination(parts, any)


def _combination(parts: list[Bound], combine: Callable[[Iterable[Any]], bool]) -> Bound:
    def bind(states: ActiveStates) -> bool | AnyTest:
        tests = [part(states) for part in parts]
        if all(isinstance(test, bool) for test in tests):
            return combine(tests)
        if any(isinstance(test, ScopedTest) for test in tests):
            return ScopedTest(
                lambda context, event, scope: combine(holds(test, context, event, scope) for test in tests)
            )
        return lambda context, event: combine(holds(test, context, event) for test in tests)

    return bind


def holds(test: bool | AnyTest, context: Any, event: Any, scope: Scope | None = None) -> Any:
    """Return whether a bound guard holds."""
    if isinstance(test, bool):
        return test
    return test(context, event, scope) if isinstance(test, ScopedTest) else test(context, event)
