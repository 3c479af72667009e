"""Operations: actions bound to a machine, which change the working copy of a step or add effects to it."""

# A plan (`plans.py`) is a tuple of operations; a microstep runs them in order. The rules:
#
# 1. An operation is created once, when its machine is built, and shared by all steps of all actors. It keeps no state
#    of its own: everything that changes is in `Work`.
# 2. An operation sees the context as the operations before it left it, and the event of its microstep. A context is
#    replaced, never changed: the snapshot before may hold the same dict.
# 3. Nothing is performed here. Functions that compute values (assignments, events, targets, delays, params, input,
#    output) are called at once and have to be pure; a user's action becomes a `Call` effect with the context and
#    event of its place in the step.
# 4. Effects are added in the order of the plan: exits with the children they stop, actions of the transitions,
#    entries with the children they invoke, done events. After an exception, actions before it are still called, as
#    XState calls them during the step; events before it are not sent (`actors/machines.py`).
# 5. `work.changed` tells whether a microstep changed anything: an eventless round without a change is not repeated.
#    As in XState, an assign counts as a change even if it assigns nothing, and so does stopping an unknown child.
# 6. Entry actions come before the children that the same state invokes, and may send to them nevertheless. Where a
#    plan contains such a state, `ExpectOp` announces the ids before the entry actions, sends to these ids are kept
#    as they are, and `SettleOp` replaces the ids by references once the children exist.
#
# The quick path (`Actor.send`, `follow` in `transition.py`) runs no operation at all: it reads `key` and `function` of
# `AssignOp` and `plain` of `CallOp` and calls the functions itself. So those two may not do more in `run` than these
# functions do. `MergeOp` is an `AssignOp` that replaces the whole context and is therefore quick as well; an assign
# with params or scope is not, and neither is a call with params.

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from antiphon.chart import effects
from antiphon.chart.errors import EventError, UnknownActor
from antiphon.chart.functions import Full, Plain
from antiphon.chart.nodes import Node
from antiphon.chart.refs import ActorRef
from antiphon.chart.work import Work

Value = Callable[[Work], Any]


class Operation(Protocol):
    """One operation of a plan."""

    def run(self, work: Work) -> None:
        """Change the working copy of the step, or add an effect to it."""
        ...


def constant(value: Any) -> Value:
    """Return a value that does not depend on the step."""
    return lambda work: value


class AssignOp:
    """Set one key of the context, or replace the whole context, by the result of a function of context and event."""

    __slots__ = ("function", "key")

    def __init__(self, key: str | None, function: Plain) -> None:
        self.key = key
        self.function = function

    def run(self, work: Work) -> None:
        """Assign to the context."""
        context = work.context
        value = self.function(context, work.event)
        work.context = value if self.key is None else {**context, self.key: value}
        work.changed = True


class MergeOp(AssignOp):
    """Merge the result of a function of context and event into the context."""

    __slots__ = ("update",)

    def __init__(self, update: Plain) -> None:
        super().__init__(None, lambda context, event: {**context, **(update(context, event) or {})})
        self.update = update

    def run(self, work: Work) -> None:
        """Merge into the context; one call less than `AssignOp.run`."""
        context = work.context
        work.context = {**context, **(self.update(context, work.event) or {})}
        work.changed = True


class ScopedAssignOp:
    """Merge the result of a function that needs params or scope into the context."""

    __slots__ = ("update",)

    def __init__(self, update: Value) -> None:
        self.update = update

    def run(self, work: Work) -> None:
        """Merge into the context."""
        work.context = {**work.context, **self.update(work)}
        work.changed = True


class CallOp:
    """Request a call of a user's action."""

    __slots__ = ("function", "params", "plain", "type")

    def __init__(self, type: str, function: Full | None, plain: Plain | None, params: Value | None) -> None:
        self.type = type
        self.function = function
        self.plain = plain
        self.params = params

    def run(self, work: Work) -> None:
        """Add a `Call` effect with the context and the event of this place in the step."""
        params = None if self.params is None else self.params(work)
        work.effects.append(effects.Call(self.type, self.function, params, work.context, work.event))


class RaiseOp:
    """Queue an event for this step, or request it after a delay."""

    __slots__ = ("delay", "event", "id")

    def __init__(self, event: Value, id: str | None, delay: Value) -> None:
        self.event = event
        self.id = id
        self.delay = delay

    def run(self, work: Work) -> None:
        """Queue the event if it has no delay, and add a `Raise` effect."""
        event = check_event(self.event(work))
        delay = self.delay(work)
        if delay is None:
            work.enqueue(event)
        work.effects.append(effects.Raise(event, self.id, delay))


class SendOp:
    """Request the delivery of an event to another actor."""

    __slots__ = ("delay", "event", "id", "target")

    def __init__(self, target: Value, event: Value, id: str | None, delay: Value) -> None:
        self.target = target
        self.event = event
        self.id = id
        self.delay = delay

    def run(self, work: Work) -> None:
        """Add a `SendTo` effect."""
        event = check_event(self.event(work))
        delay = self.delay(work)
        target = address(work, self.target(work))
        effect = effects.SendTo(target, event, self.id, delay)
        work.effects.append(effect)
        if isinstance(target, str) and not target.startswith("#_"):
            work.unsettled.append(effect)


def address(work: Work, target: Any) -> Any:
    """Resolve a target to a reference, or to a marker for the parent, the actor itself, or a child not yet invoked."""
    if target is None:
        return "#_internal"
    if not isinstance(target, str):
        return target
    if target == "#_internal" or (target == "#_parent" and work.may_have_parent):
        return target
    if target in work.late:
        return target
    ref = work.children.get(target[2:] if target.startswith("#_") else target)
    if ref is None:
        raise UnknownActor(
            f"machine {work.machine.id!r} cannot send to actor {target!r}, which is not one of its children now"
        )
    return ref


class EmitOp:
    """Request that an event be emitted to listeners."""

    __slots__ = ("event",)

    def __init__(self, event: Value) -> None:
        self.event = event

    def run(self, work: Work) -> None:
        """Add an `Emit` effect."""
        work.effects.append(effects.Emit(check_event(self.event(work))))


class LogOp:
    """Request that a value be logged."""

    __slots__ = ("label", "value")

    def __init__(self, value: Value, label: str | None) -> None:
        self.value = value
        self.label = label

    def run(self, work: Work) -> None:
        """Add a `Log` effect."""
        work.effects.append(effects.Log(self.value(work), self.label))


class CancelOp:
    """Request that a delayed event be cancelled."""

    __slots__ = ("send_id",)

    def __init__(self, send_id: Value) -> None:
        self.send_id = send_id

    def run(self, work: Work) -> None:
        """Add a `Cancel` effect."""
        work.effects.append(effects.Cancel(self.send_id(work)))


class SpawnOp:
    """Add a child and request its start."""

    __slots__ = ("id", "input", "logic", "src", "sync_snapshot", "system_id")

    def __init__(
        self, src: Any, logic: Any, id: Value, input: Value, system_id: str | None, sync_snapshot: bool
    ) -> None:
        self.src = src
        self.logic = logic
        self.id = id
        self.input = input
        self.system_id = system_id
        self.sync_snapshot = sync_snapshot

    def run(self, work: Work) -> None:
        """Add the child and a `SpawnChild` effect."""
        id = self.id(work) or work.free_id()
        if self.logic is None:  # only in relaxed machines: as in XState, the id stays without a child
            work.children = work.children.adding(id, None)
            work.changed = True
            return
        work.adopt(ActorRef(id, self.src, self.logic, self.input(work), self.system_id, self.sync_snapshot))


class StopOp:
    """Remove a child and request that it be stopped."""

    __slots__ = ("child",)

    def __init__(self, child: Value) -> None:
        self.child = child

    def run(self, work: Work) -> None:
        """Remove the child and add a `StopChild` effect."""
        child = self.child(work)
        ref = work.children.get(child) if isinstance(child, str) else child
        work.changed = True
        if ref is not None:
            work.children = work.children.removing(ref.id)
            work.effects.append(effects.StopChild(ref))


class EnqueueOp:
    """Run the actions that a function enqueues."""

    __slots__ = ("collect", "names", "params")

    def __init__(self, collect: Full, params: Value, names: Any) -> None:
        self.collect = collect
        self.params = params
        self.names = names

    def run(self, work: Work) -> None:
        """Collect the actions, then run them in order."""
        chosen: list[Any] = []
        queue = self.names.enqueuer(chosen, work, self.params(work))
        self.collect(work.context, work.event, queue, work.scope())
        for spec in chosen:
            self.names.operation(spec).run(work)


class ExpectOp:
    """Let the entry actions that follow send to children that are invoked right after them."""

    __slots__ = ("ids",)

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)

    def run(self, work: Work) -> None:
        """Set the ids of the expected children."""
        work.late = self.ids
        work.unsettled = []


class SettleOp:
    """Replace the ids of expected children in pending sends by their references."""

    __slots__ = ()

    def run(self, work: Work) -> None:
        """Resolve the pending sends."""
        for effect in work.unsettled:
            effect.target = work.children.get(effect.target)
        work.late = ()
        work.unsettled = []


class LeaveOp:
    """SCXML: make a state inactive for the operations that follow."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    def run(self, work: Work) -> None:
        """Remove the state, and its actors that are not invoked yet."""
        work.active = work.active_nodes() - {self.node}
        if work.invoking is not None:
            work.invoking.pop(self.node, None)


class ArriveOp:
    """SCXML: make a state active for the operations that follow; its actors are invoked when the step is at rest."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    def run(self, work: Work) -> None:
        """Add the state."""
        work.active = work.active_nodes() | {self.node}
        if self.node.spawns:
            work.invoking = {**(work.invoking or {}), self.node: None}


class StateDoneOp:
    """Queue the done event of a state."""

    __slots__ = ("output", "type")

    def __init__(self, node: Node, output: Value | None) -> None:
        self.type = f"xstate.done.state.{node.id}"
        self.output = output

    def run(self, work: Work) -> None:
        """Queue the event."""
        work.enqueue(done_event(self.type, self.output, work))


class MachineDoneOp:
    """End the machine with the output that its root computes."""

    __slots__ = ("final_output", "root_output", "type")

    def __init__(self, last: Node, final_output: Value | None, root_output: Value | None) -> None:
        self.type = f"xstate.done.state.{last.id}"
        self.final_output = final_output
        self.root_output = root_output

    def run(self, work: Work) -> None:
        """Set the status and the output."""
        work.status = "done"
        work.changed = True
        if self.root_output is None:
            return
        # The root's output gets the done event of the state that completed it, not the event of the microstep.
        cause = work.event
        work.event = done_event(self.type, self.final_output, work)
        work.output = self.root_output(work)
        work.event = cause


def done_event(type: str, output: Value | None, work: Work) -> dict[str, Any]:
    """Return a done event; its output is None if the state has no output."""
    return {"type": type, "output": None if output is None else output(work)}


def check_event(event: Any) -> Any:
    """Return the event; raise EventError if it is not one."""
    try:
        if isinstance(event["type"], str):
            return event
    except (TypeError, KeyError, IndexError):
        pass
    raise EventError(f'an event is a mapping with a string under "type", not {event!r}')
