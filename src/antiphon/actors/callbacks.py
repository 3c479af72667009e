"""Actors from plain functions: callbacks and reducers."""

from collections.abc import Callable
from typing import Any

from antiphon.actors.logic import LogicScope, LogicSnapshot, WorkScope, bind_input, check_logic_function
from antiphon.chart.functions import shape

STOP = "xstate.stop"


class CallbackLogic:
    """Calls a function when the actor starts, and the function it returned when the actor stops."""

    __slots__ = ("call",)
    safety = "repeat"  # it is called again when its actor is restored
    eager = is_plain = False  # it may send events as long as its actor runs

    def __init__(self, function: Callable[..., Any]) -> None:
        self.call = bind_input(function)

    def begin(self, actor: Any) -> LogicSnapshot:
        """Return the first snapshot."""
        return LogicSnapshot(input=actor.input)

    def start(self, actor: Any) -> None:
        """Ask the host to call the function."""
        actor.system.host.start(actor, self)

    def launch(self, actor: Any) -> None:
        """Call the function."""
        actor.private["dispose"] = None
        actor.private["dispose"] = self.call(actor.snapshot.input, WorkScope(actor))

    def receive(self, actor: Any, event: Any) -> LogicSnapshot:
        """Pass an event to the function's receivers, or clean up if it is the last."""
        snapshot: LogicSnapshot = actor.snapshot
        if event["type"] != STOP:
            actor.system.host.hear(actor, event)
            return snapshot
        actor.system.host.stop(actor, self)
        return LogicSnapshot("stopped", input=snapshot.input)

    def abandon(self, actor: Any) -> None:
        """Call the function's clean-up."""
        dispose = actor.private.get("dispose")
        actor.private.clear()
        if callable(dispose):
            dispose()


class _ReducerLogic:
    """Folds events into a state."""

    __slots__ = ("_initial", "_reduce")

    def __init__(self, reducer: Callable[..., Any], initial: Any) -> None:
        check_logic_function(reducer, ("state", "event"), is_awaited=False)
        wants_scope = shape(reducer).scoped
        self._reduce: Callable[..., Any] = (
            reducer if wants_scope else (lambda state, event, scope: reducer(state, event))
        )
        self._initial = bind_input(initial) if callable(initial) else (lambda value, scope: initial)

    def begin(self, actor: Any) -> LogicSnapshot:
        """Return the first snapshot."""
        return LogicSnapshot(context=self._initial(actor.input, LogicScope(actor)))

    def start(self, actor: Any) -> None:
        """Do nothing, because a reducer only reacts to events."""

    def receive(self, actor: Any, event: Any) -> LogicSnapshot:
        """Return the snapshot after an event."""
        snapshot: LogicSnapshot = actor.snapshot
        state = self._reduce(snapshot.context, event, scope=LogicScope(actor))
        return LogicSnapshot(snapshot.status, context=state)


def from_callback(function: Callable[..., Any]) -> CallbackLogic:
    """Create actor logic from a function of `input` and `scope`; a function it returns is called at the end.

    It sends events to the parent with `scope.send_back` and receives events with `scope.receive`.
    """
    return CallbackLogic(function)


def from_transition(reducer: Callable[..., Any], initial: Any) -> _ReducerLogic:
    """Create actor logic from a reducer `(state, event) -> state`; `initial` is a state, or a function of the input."""
    return _ReducerLogic(reducer, initial)
