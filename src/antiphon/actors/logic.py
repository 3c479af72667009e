"""Actor logic: the behaviour of an actor, and what all kinds have in common."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from antiphon.actors.errors import ActorError
from antiphon.chart.errors import SnapshotError
from antiphon.chart.functions import misfit, shape
from antiphon.chart.persist import STATUSES, from_json_value, to_json_error, to_json_value
from antiphon.chart.scope import Facts, FactScope
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.steps import error_snapshot


class Logic(Protocol):
    """The behaviour of an actor. All state is in the actor, so logic can be shared."""

    def begin(self, actor: Any) -> Any:
        """Return the first snapshot."""
        ...

    def start(self, actor: Any) -> None:
        """Start the actor's work."""
        ...

    def receive(self, actor: Any, event: Any) -> Any:
        """Return the snapshot after an event."""
        ...


class LogicSnapshot:
    """Snapshot of an actor that is not a machine."""

    __slots__ = ("context", "error", "input", "output", "status")

    def __init__(
        self, status: str = "active", context: Any = None, input: Any = None, output: Any = None, error: Any = None
    ) -> None:
        self.status = status
        self.context = context
        self.input = input
        self.output = output
        self.error = error

    def end(self, status: str, output: Any = None, error: Any = None) -> "LogicSnapshot":
        """Return this snapshot at its end, without the input, which is no longer needed."""
        return LogicSnapshot(status, self.context, None, output, error)

    def to_json(self) -> dict[str, Any]:
        """Return the snapshot as JSON-ready values, without those that are absent."""
        named = {"context": self.context, "input": self.input, "output": self.output}
        values = {key: to_json_value(value, key) for key, value in named.items() if value is not None}
        if self.error is not None:
            values["error"] = to_json_error(self.error)
        return {"status": self.status, **values}

    def __repr__(self) -> str:
        return f"LogicSnapshot({self.to_json()!r})"


def load_logic_snapshot(persisted: Any) -> LogicSnapshot:
    """Return a snapshot from its JSON form; work that was running starts again from the beginning."""
    if not isinstance(persisted, Mapping) or persisted.get("status") not in STATUSES:
        raise SnapshotError(f"a persisted snapshot needs a status ({', '.join(STATUSES)}): {persisted!r}")
    return LogicSnapshot(
        persisted["status"],
        context=from_json_value(persisted.get("context")),
        input=from_json_value(persisted.get("input")),
        output=from_json_value(persisted.get("output")),
        error=from_json_value(persisted.get("error")),
    )


def after_failure(snapshot: Any, error: Exception) -> Any:
    """Return the snapshot an actor of any kind ends with when it raises: the last one, with the error."""
    if isinstance(snapshot, Snapshot):
        return error_snapshot(snapshot, error)
    return LogicSnapshot("error", context=snapshot.context, input=snapshot.input, output=snapshot.output, error=error)


class LogicScope(FactScope):
    """The actor and the system of a function, its ways to send and receive events, and the facts of its step."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    @property
    def self(self) -> Any:
        """The actor that runs this function."""
        return self._actor

    @property
    def system(self) -> Any:
        """The system the actor belongs to."""
        return self._actor.system

    def _find_facts(self) -> Facts:
        facts: Facts = self._actor.system.facts
        return facts

    def emit(self, event: Any) -> None:
        """Emit an event to the listeners of this actor."""
        self._actor.emit(event)

    def send_back(self, event: Any, join: str | None = None) -> None:
        """Send an event to the parent; `join` is for the durable runtime, which may join pieces of a text."""
        actor = self._actor
        if actor.parent is not None and actor.snapshot.status != "stopped":
            actor.system.check_thread(actor.parent)
            actor.system.relay(actor, actor.parent, event)

    def report(self, value: Any) -> None:
        """Make a value the context of this actor, as a value of a stream would be."""
        if self._actor.snapshot.status == "active":
            self._actor.system.relay(self._actor, self._actor, {"type": "xstate.stream.next", "data": value})

    def receive(self, listener: Callable[[Any], Any]) -> None:
        """Call a function with every event this actor gets."""
        self._actor.private.setdefault("receivers", []).append(listener)

    def on_cancel(self, callback: Callable[[], Any]) -> None:
        """Call a function at once when this actor is stopped before it is done."""
        self._actor.private.setdefault("cancels", []).append(callback)


class TaskScope(Protocol):
    """The scope of the function of a task, stream or callback, in one process and in the durable runtime."""

    @property
    def key(self) -> str:
        """Idempotency key: the same for every attempt at this task, and for no other task."""
        ...

    @property
    def attempt(self) -> int:
        """Number of this attempt, from 1."""
        ...

    def send_back(self, event: Any, join: str | None = None) -> None:
        """Send an event to the parent; with `join`, the key of a text, the runtime may join pieces of this text."""
        ...

    def report(self, value: Any) -> None:
        """Make a value the context of the actor of this task, as a value of a stream would be."""
        ...

    def receive(self, listener: Callable[[Any], Any]) -> None:
        """Call a function with every event that the actor gets."""
        ...

    def on_cancel(self, callback: Callable[[], Any]) -> None:
        """Call a function as soon as the actor is stopped before it is done."""
        ...


class WorkScope(LogicScope):
    """The scope of a task, stream or callback in this process, where each has one attempt."""

    __slots__ = ("_key",)

    def __init__(self, actor: Any) -> None:
        super().__init__(actor)
        self._key = ""

    @property
    def key(self) -> str:
        """Id of this work, which no other work has."""
        if not self._key:
            self._key = self.new_id()
        return self._key

    @property
    def attempt(self) -> int:
        """The first attempt, and the only one."""
        return 1


def bind_input(function: Callable[..., Any]) -> Callable[[Any, LogicScope | None], Any]:
    """Return a user's function as `(input, scope)`; it may take neither, either or both."""
    check_logic_function(function, ("input",), is_awaited=True)
    takes = shape(function)
    if takes.scoped:
        count = min(takes.positional, 1)
        return lambda value, scope: function(*(value,)[:count], scope=scope)
    if takes.positional:
        return lambda value, scope: function(value)
    return lambda value, scope: function()


def check_logic_function(function: Callable[..., Any], arguments: Sequence[str], *, is_awaited: bool) -> None:
    """Raise ActorError if a function cannot be called with these arguments and `scope`."""
    if reason := misfit(function, arguments, is_awaited=is_awaited):
        name = getattr(function, "__name__", type(function).__name__)
        raise ActorError(f"the function {name!r} cannot be actor logic: it {reason}")
