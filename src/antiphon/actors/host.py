"""Hosts: the port through which an actor system performs effects.

Actors compute; a host calls users' actions, keeps timers and runs the work of task and callback actors.
The host here performs effects at once, in this process. A durable host performs them after the step is stored.
"""

from typing import Any, Protocol

from antiphon.chart.effects import Call
from antiphon.chart.scope import Facts, Scope


class Host(Protocol):
    """Performs effects for the actors of one system."""

    @property
    def previous(self) -> dict[Any, Any] | None:
        """Where actors note their snapshots before a step (None for a new actor), if the host asks for that."""
        ...

    def facts(self, system: Any) -> Facts:
        """Return the time, and the sources of ids and random numbers, for the functions of the current step."""
        ...

    def call(self, actor: Any, effect: Call) -> None:
        """Call a user's action."""
        ...

    def set_timer(self, actor: Any, target: Any, event: Any, delay_ms: float, id: str | None) -> None:
        """Deliver an event after a delay."""
        ...

    def cancel_timer(self, actor: Any, id: str, *, every: bool = False) -> None:
        """Cancel the latest delayed event of an id, or every one."""
        ...

    def cancel_timers(self, actor: Any) -> None:
        """Cancel all delayed events of an actor that has ended."""
        ...

    def start(self, actor: Any, logic: Any) -> None:
        """Start the work of a task or callback actor."""
        ...

    def stop(self, actor: Any, logic: Any) -> None:
        """Stop the work of a task or callback actor."""
        ...

    def hear(self, actor: Any, event: Any) -> None:
        """Pass an event to the receivers of a callback actor."""
        ...

    def emit(self, actor: Any, event: Any) -> None:
        """Emit an event to the actor's listeners."""
        ...


class InProcess:
    """Performs every effect at once, in this process."""

    __slots__ = ()
    previous: None = None

    def facts(self, system: Any) -> Facts:
        """Return the time of the system's clock, and its sources of ids and random numbers."""
        return Facts(system.clock.now(), system.new_id or _new_id, system.random or _random)

    def call(self, actor: Any, effect: Call) -> None:
        """Call a user's action."""
        if effect.function is not None:
            effect.function(effect.context, effect.event, effect.given, Scope(actor, actor.system))

    def set_timer(self, actor: Any, target: Any, event: Any, delay_ms: float, id: str | None) -> None:
        """Set a timer on the system's clock."""
        actor.timers.set(target, event, delay_ms, id)

    def cancel_timer(self, actor: Any, id: str, *, every: bool = False) -> None:
        """Cancel the latest delayed event of an id, or every one."""
        actor.timers.cancel(id, every=every)

    def cancel_timers(self, actor: Any) -> None:
        """Cancel all delayed events of an actor that has ended; most have none."""
        if actor.has_timers:
            actor.timers.cancel_all()

    def start(self, actor: Any, logic: Any) -> None:
        """Start the work of a task or callback actor."""
        logic.launch(actor)

    def stop(self, actor: Any, logic: Any) -> None:
        """Stop the work of a task or callback actor."""
        logic.abandon(actor)

    def hear(self, actor: Any, event: Any) -> None:
        """Pass an event to the receivers of a callback actor."""
        for listener in tuple(actor.private.get("receivers", ())):
            listener(event)

    def emit(self, actor: Any, event: Any) -> None:
        """Emit an event to the actor's listeners."""
        actor.emit(event)


def _new_id() -> str:
    from uuid import uuid4  # here, because it is slow to load

    return uuid4().hex


def _random() -> float:
    from random import random

    return random()


IN_PROCESS = InProcess()
