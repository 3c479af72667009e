"""Built-in actions: assign, raise, send, emit, log, cancel, spawn, stop and enqueue.

Each constructor gives a declaration; `bind` turns it, with the names of a machine, into an operation
that a step runs. Declarations are plain values and can be shared between machines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, overload

from antiphon.chart import ops
from antiphon.chart.functions import full, plain, shape
from antiphon.chart.guards import Guard
from antiphon.chart.scope import Scope
from antiphon.chart.signatures import Assignment, C, C_in, E, E_in, Function, PartialContext

PARENT = "#_parent"
SELF = "#_internal"


class NameResolver(Protocol):
    """Resolves the names that the actions of a machine refer to."""

    @property
    def delays(self) -> Mapping[str, Any]:
        """Named delays."""
        ...

    def operation(self, spec: Any) -> ops.Operation:
        """Return the operation of an action as a chart writes it."""
        ...

    def guard(self, spec: Any) -> Any:
        """Return the bound guard of a name, a function or a combination."""
        ...

    def logic(self, src: Any) -> Any:
        """Return the actor logic of this name."""
        ...


class Action(Generic[C_in, E_in]):
    """A built-in action, not yet bound to a machine."""

    __slots__ = ("_bind", "actor", "delay", "logic", "type", "values")

    def __init__(
        self,
        type: str,
        bind: Callable[[NameResolver, Any], ops.Operation],
        values: Sequence[Any] = (),
        *,
        actor: Any = None,
        delay: Any = None,
    ) -> None:
        self.type = type
        self._bind = bind
        # The names, actor logic and functions it refers to, so that a machine can be checked before it runs.
        self.actor = actor if isinstance(actor, str) else None
        self.logic = actor if self.actor is None else None
        self.delay = delay if isinstance(delay, str) else None
        self.values = (*values, delay)  # each a function or a constant

    def bind(self, names: NameResolver, params: Any = None) -> ops.Operation:
        """Return the operation of this action in the machine that `names` resolves names for."""
        return self._bind(names, params)

    def __repr__(self) -> str:
        return f"Action({self.type!r})"


class Addressable(Protocol):
    """An actor, or a reference to one."""

    def send(self, event: Any, /) -> Any:
        """Send it an event."""
        ...


# Implementations of a name; actions as charts write them; events, their targets and delays; and any value.
BoundAction = Function[C, E, Any] | Action[C, E]
ChartAction = str | Mapping[str, Any] | Function[C, E, Any] | Action[C, E]
Event = Mapping[str, Any] | Function[C, E, Mapping[str, Any]]
Duration = float | Function[C, E, float]
Delay = str | float | Function[C, E, float] | None
Target = str | Addressable | Function[C, E, Any]
Computed = Function[C, E, Any] | object


@overload
def assign(assignment: Assignment[C, E] | Function[C, E, Mapping[str, Any]]) -> Action[C, E]: ...
@overload
def assign(assignment: PartialContext) -> Action[Any, Any]: ...
def assign(assignment: Any) -> Action[Any, Any]:
    """Merge values into the context: a mapping of values or functions, or a function that gives a mapping."""
    if isinstance(assignment, Mapping):
        return Action(
            "xstate.assign", lambda names, params: _assign_keys(dict(assignment), params), [*assignment.values()]
        )
    return Action("xstate.assign", lambda names, params: _assign_all(assignment, params), [assignment])


def raise_(event: Event[C, E], *, delay: Delay[C, E] = None, id: str | None = None) -> Action[C, E]:
    """Send the machine an event that it takes within this step, or by the clock if there is a delay."""
    return Action(
        "xstate.raise",
        lambda names, params: ops.RaiseOp(as_value(event, params), id, _delay(delay, names, params)),
        [event],
        delay=delay,
    )


def send_to(
    target: Target[C, E], event: Event[C, E], *, delay: Delay[C, E] = None, id: str | None = None
) -> Action[C, E]:
    """Send an event to an actor: a child's id, a reference, or a function that gives either."""
    return Action(
        "xstate.sendTo",
        lambda names, params: ops.SendOp(
            as_value(target, params), as_value(event, params), id, _delay(delay, names, params)
        ),
        [target, event],
        delay=delay,
    )


def send_parent(event: Event[C, E], *, delay: Delay[C, E] = None, id: str | None = None) -> Action[C, E]:
    """Send an event to the parent of this actor."""
    return send_to(PARENT, event, delay=delay, id=id)


def forward_to(target: Target[C, E], *, delay: Delay[C, E] = None, id: str | None = None) -> Action[C, E]:
    """Send the current event on to another actor."""
    return send_to(target, lambda context, event: event, delay=delay, id=id)


def emit(event: Event[C, E]) -> Action[C, E]:
    """Emit an event to the listeners of this actor (`actor.on`)."""
    return Action("xstate.emit", lambda names, params: ops.EmitOp(as_value(event, params)), [event])


def log(value: Computed[C, E] = None, label: str | None = None) -> Action[C, E]:
    """Write a value, or the result of a function, to the actor's logger."""
    written = value if value is not None else (lambda context, event: {"context": context, "event": event})
    return Action("xstate.log", lambda names, params: ops.LogOp(as_value(written, params), label), [value])


def cancel(send_id: str | Function[C, E, str]) -> Action[C, E]:
    """Cancel a delayed event by the id it was sent with."""
    return Action("xstate.cancel", lambda names, params: ops.CancelOp(as_value(send_id, params)), [send_id])


def spawn_child(
    src: Any,
    *,
    id: str | Function[C, E, str] | None = None,
    input: Computed[C, E] = None,
    system_id: str | None = None,
    sync_snapshot: bool = False,
) -> Action[C, E]:
    """Start a child actor that lives until it ends, is stopped, or its parent ends."""
    return Action(
        "xstate.spawnChild",
        lambda names, params: ops.SpawnOp(
            src, names.logic(src), as_value(id, params), as_value(input, params), system_id, sync_snapshot
        ),
        [id, input],
        actor=src,
    )


def stop_child(child: Target[C, E]) -> Action[C, E]:
    """Stop a child: its id, its reference, or a function that gives either."""
    return Action("xstate.stopChild", lambda names, params: ops.StopOp(as_value(child, params)), [child])


def enqueue_actions(collect: Collect[C, E]) -> Action[C, E]:
    """Choose actions at run time: `collect(context, event, enqueue)` calls `enqueue(action)` as often as it likes.

    `enqueue.assign`, `enqueue.raise_`, `enqueue.send_to` and so on are short for enqueueing that action;
    `enqueue.check(guard)` tests a guard against the context before all of this, `enqueue.params` has the params.
    """
    return Action(
        "xstate.enqueueActions",
        lambda names, params: ops.EnqueueOp(full(collect), bind_params(params), names),
        [collect],
    )


class Enqueue(Generic[C, E]):
    """Collects the actions that `enqueue_actions` chooses."""

    __slots__ = ("_check", "_chosen", "params")

    def __init__(self, chosen: list[Any], check: Callable[[Any], bool], params: Any) -> None:
        self._chosen = chosen
        self._check = check
        self.params = params

    def __call__(self, action: ChartAction[C, E]) -> None:
        """Enqueue an action: a name, `{"type", "params"}`, a function, or a built-in action."""
        self._chosen.append(action)

    def check(self, guard: Guard[C, E]) -> bool:
        """Return whether a guard holds now."""
        return self._check(guard)

    @overload
    def assign(self, assignment: Assignment[C, E] | Function[C, E, Mapping[str, Any]]) -> None: ...
    @overload
    def assign(self, assignment: PartialContext) -> None: ...
    def assign(self, assignment: Any) -> None:
        """Enqueue `assign`."""
        self(assign(assignment))

    def raise_(self, event: E | Function[C, E, E], *, delay: Delay[C, E] = None, id: str | None = None) -> None:
        """Enqueue `raise_`."""
        self(raise_(event, delay=delay, id=id))

    def send_to(
        self, target: Target[C, E], event: Event[C, E], *, delay: Delay[C, E] = None, id: str | None = None
    ) -> None:
        """Enqueue `send_to`."""
        self(send_to(target, event, delay=delay, id=id))

    def send_parent(self, event: Event[C, E], *, delay: Delay[C, E] = None, id: str | None = None) -> None:
        """Enqueue `send_parent`."""
        self(send_parent(event, delay=delay, id=id))

    def emit(self, event: Event[C, E]) -> None:
        """Enqueue `emit`."""
        self(emit(event))

    def cancel(self, send_id: str | Function[C, E, str]) -> None:
        """Enqueue `cancel`."""
        self(cancel(send_id))

    def spawn_child(self, src: Any, **options: Any) -> None:
        """Enqueue `spawn_child`."""
        self(spawn_child(src, **options))

    def stop_child(self, child: Target[C, E]) -> None:
        """Enqueue `stop_child`."""
        self(stop_child(child))


class ScopedCollect(Protocol[C_in, E_in]):
    """A function for `enqueue_actions` that asks for the scope."""

    def __call__(self, context: C_in, event: E_in, enqueue: Any, /, *, scope: Scope) -> Any:
        """Enqueue actions."""
        ...


Collect = Callable[[C, E, Enqueue[C, E]], Any] | ScopedCollect[C, E]


def as_value(spec: Any, params: Any = None) -> ops.Value:
    """Bind a constant, or a function of context and event, to the working copy of a step."""
    if not callable(spec):
        return ops.constant(spec)
    takes = shape(spec)
    if takes.positional == 1 and not takes.scoped:
        return lambda work: spec(work.context)
    simple = plain(spec, takes)
    if simple is not None:
        return lambda work: simple(work.context, work.event)
    everything = full(spec, takes)
    params_of = bind_params(params)
    return lambda work: everything(work.context, work.event, params_of(work), work.scope())


def bind_params(params: Any) -> ops.Value:
    """Bind the params of an action: a value, or a function of context and event."""
    return as_value(params) if callable(params) else ops.constant(params)


def _delay(spec: Any, names: NameResolver, params: Any) -> ops.Value:
    # An unknown name means no delay at all, as in XState; building a strict machine refuses it.
    delay = names.delays.get(spec) if isinstance(spec, str) else spec
    return as_value(delay, params)


def _assign_keys(assignment: dict[str, Any], params: Any) -> ops.Operation:
    functions = {key: value for key, value in assignment.items() if callable(value)}
    simple = {key: plain(value) for key, value in functions.items()}
    if all(function is not None for function in simple.values()):
        return _assign_plain(assignment, simple)
    values = {key: as_value(value, params) for key, value in assignment.items()}
    return ops.ScopedAssignOp(lambda work: {key: value(work) for key, value in values.items()})


def _assign_plain(assignment: dict[str, Any], functions: dict[str, Any]) -> ops.Operation:
    if len(assignment) == 1 == len(functions):
        [(key, function)] = functions.items()
        return ops.AssignOp(key, function)
    constants = {key: value for key, value in assignment.items() if key not in functions}
    pairs = tuple(functions.items())
    # Every function sees the context as it was before this action.
    return ops.AssignOp(
        None, lambda context, event: {**context, **constants, **{key: fn(context, event) for key, fn in pairs}}
    )


def _assign_all(assignment: Callable[..., Any], params: Any) -> ops.Operation:
    simple = plain(assignment)
    if simple is not None:
        return ops.MergeOp(simple)
    update = as_value(assignment, params)
    return ops.ScopedAssignOp(lambda work: update(work) or {})
