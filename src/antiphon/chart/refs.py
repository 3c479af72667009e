"""References to actors: values that a pure step can make, and that an actor system brings to life."""

from typing import Any

from antiphon.chart.errors import UnknownActor

# How a reference looks in JSON, as XState writes it.
REFERENCE = "xstate$$type"


class ActorRef:
    """A child by name: made by a step, bound to a running actor when the step is performed."""

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
        self._live().send(event)

    def get_snapshot(self) -> Any:
        """The current snapshot of the actor behind this reference."""
        return self._live().get_snapshot()

    def subscribe(self, *observer: Any, **callbacks: Any) -> Any:
        """Observe the actor behind this reference."""
        return self._live().subscribe(*observer, **callbacks)

    def stop(self) -> None:
        """Refused by the actor behind this reference: only its parent stops a child."""
        self._live().stop()

    def on(self, type: str, listener: Any) -> Any:
        """Listen to what the actor behind this reference emits."""
        return self._live().on(type, listener)

    def _live(self) -> Any:
        if self.actor is None:
            raise UnknownActor(f"actor {self.id!r} is not running: this snapshot was computed, not started")
        return self.actor

    def __repr__(self) -> str:
        return f"ActorRef({self.id!r})"


def to_reference(id: str) -> dict[str, Any]:
    """The JSON form of a reference."""
    return {REFERENCE: 1, "id": id}


def is_reference(value: Any) -> bool:
    """Whether a JSON value stands for a reference."""
    return isinstance(value, dict) and value.get(REFERENCE) == 1 and isinstance(value.get("id"), str)
