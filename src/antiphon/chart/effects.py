"""Effects: what a step asks an actor system to perform, in order.

`type` and `params` have the names and shapes XState gives its executable actions.
"""

from typing import Any


class Effect:
    """Base of all effects."""

    __slots__: tuple[str, ...] = ()
    type: str = ""

    @property
    def params(self) -> Any:
        """The values of the effect that are set, by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.params!r})"


class Call(Effect):
    """Call a user's action with the context and event of its place in the step."""

    __slots__ = ("context", "event", "function", "given", "type")

    def __init__(self, type: str, function: Any, given: Any, context: Any, event: Any) -> None:
        self.type = type
        self.function = function
        self.given = given
        self.context = context
        self.event = event

    @property
    def params(self) -> Any:
        """The params of the action as the chart gives them, or None."""
        return self.given

    def __repr__(self) -> str:
        return f"Call({self.type!r}, {self.given!r})"


class Raise(Effect):
    """An event for the machine itself: taken within this step, or after `delay` milliseconds."""

    __slots__ = ("delay", "event", "id")
    type = "xstate.raise"

    def __init__(self, event: Any, id: str | None, delay: float | None) -> None:
        self.event = event
        self.id = id
        self.delay = delay


class SendTo(Effect):
    """Deliver an event to another actor, now or after `delay` milliseconds."""

    __slots__ = ("delay", "event", "id", "target")
    type = "xstate.sendTo"

    def __init__(self, target: Any, event: Any, id: str | None, delay: float | None) -> None:
        self.target = target
        self.event = event
        self.id = id
        self.delay = delay


class Emit(Effect):
    """Emit an event to the listeners of this actor."""

    __slots__ = ("event",)
    type = "xstate.emit"

    def __init__(self, event: Any) -> None:
        self.event = event


class Log(Effect):
    """Write a value to the actor's logger."""

    __slots__ = ("label", "value")
    type = "xstate.log"

    def __init__(self, value: Any, label: str | None) -> None:
        self.value = value
        self.label = label


class Cancel(Effect):
    """Cancel a delayed event that has not been delivered yet; with `every`, all that were sent with this id."""

    __slots__ = ("every", "send_id")
    type = "xstate.cancel"

    def __init__(self, send_id: str, every: bool | None = None) -> None:
        self.send_id = send_id
        self.every = every  # as in SCXML; XState means the latest


class SpawnChild(Effect):
    """Create the child behind `ref` now and start it once the step is published."""

    __slots__ = ("assigned", "ref")
    type = "xstate.spawnChild"

    def __init__(self, ref: Any, assigned: bool = False) -> None:
        # `assigned`: created by `spawn` inside an assign, which XState leaves out of its lists.
        self.ref = ref
        self.assigned = assigned

    @property
    def params(self) -> Any:
        """Id, source, system id and input of the child."""
        ref = self.ref
        named = {"id": ref.id, "src": ref.src, "systemId": ref.system_id, "input": ref.input}
        return {key: value for key, value in named.items() if value is not None}


class StopChild(Effect):
    """Stop the child behind `ref`; events it still sends are ignored."""

    __slots__ = ("ref",)
    type = "xstate.stopChild"

    def __init__(self, ref: Any) -> None:
        self.ref = ref

    @property
    def params(self) -> Any:
        """Id of the child."""
        return {"id": getattr(self.ref, "id", None)}


class Finish(Effect):
    """Tell the parent that this actor has ended; XState leaves it out of its lists."""

    __slots__ = ("error", "output", "status")
    type = "xstate.done"

    def __init__(self, status: str, output: Any, error: Any) -> None:
        self.status = status
        self.output = output
        self.error = error
