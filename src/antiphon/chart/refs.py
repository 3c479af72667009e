"""References to actors: values that a pure step creates and an actor system binds to running actors."""

from typing import Any

from antiphon.chart.errors import UnknownActor

# The key that marks a reference in JSON, as in XState.
REFERENCE = "xstate$$type"


class ActorRef:
    """A child by id: created by a step, bound to a running actor when the step is performed."""

    __slots__ = ("actor", "id", "input", "logic", "src", "sync_snapshot", "system_id")

    def __init__(
        self,
        id: str,
        src: Any,
        logic: Any,
        input: Any = None,
        system_id: str | None = None,
        sync_snapshot: bool = False,
    ) -> None:
        self.id = id
        self.src = src
        self.logic = logic
        self.input = input
        self.system_id = system_id
        self.sync_snapshot = sync_snapshot
        self.actor: Any = None

    def send(self, event: Any) -> None:
        """Send an event to the actor behind this reference."""
        self._running_actor().send(event)

    def send_threadsafe(self, event: Any) -> None:
        """Send an event to the actor behind this reference, from any thread."""
        self._running_actor().send_threadsafe(event)

    def get_snapshot(self) -> Any:
        """Return the current snapshot of the actor behind this reference."""
        return self._running_actor().get_snapshot()

    def subscribe(self, *observer: Any, **callbacks: Any) -> Any:
        """Observe the actor behind this reference."""
        return self._running_actor().subscribe(*observer, **callbacks)

    def stop(self) -> None:
        """Raise NotRoot: only the parent stops a child, with `stop_child`."""
        self._running_actor().stop()

    def on(self, type: str, listener: Any) -> Any:
        """Listen to the events that the actor behind this reference emits."""
        return self._running_actor().on(type, listener)

    def _running_actor(self) -> Any:
        if self.actor is None:
            raise UnknownActor(f"actor {self.id!r} is not running: this snapshot was computed, not started")
        return self.actor

    def __repr__(self) -> str:
        return f"ActorRef({self.id!r})"


def to_reference(id: str) -> dict[str, Any]:
    """Return the JSON form of a reference."""
    return {REFERENCE: 1, "id": id}


def is_reference(value: Any) -> bool:
    """Return whether a JSON value stands for a reference."""
    return isinstance(value, dict) and value.get(REFERENCE) == 1 and isinstance(value.get("id"), str)
