"""What happens in an actor, step by step, for views to show."""

import asyncio
from dataclasses import dataclass
from typing import Any, Protocol

from antiphon.actors.actor import Actor
from antiphon.actors.creation import create_actor
from antiphon.actors.inspection import MICROSTEP, SNAPSHOT, Inspection
from antiphon.chart.explore.labels import EventLabels
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Transition
from antiphon.chart.snapshot import Snapshot
from antiphon.cli.play.scaled_clock import PacedClock

STOP = "xstate.stop"  # how a session ends, which is no step of the chart


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the actor: when, on which event, through which transitions, to where."""

    at_ms: float
    event: Any
    label: str
    transitions: tuple[Transition, ...]
    snapshot: Snapshot[Any]

    @property
    def title(self) -> str:
        """The event, and whether anything came of it."""
        reacted = self.transitions or self.event["type"].startswith("xstate.")
        return self.label if reacted else f"{self.label} (no reaction)"


class View(Protocol):
    """Somewhere to show an actor's life."""

    def show(self, step: Step) -> None:
        """Show one more step."""
        ...

    def refresh(self, now_ms: float) -> None:
        """Show that time has passed."""
        ...

    def typed(self, problem: str | None) -> None:
        """Go on after the user has typed a line, and say what was wrong with it."""
        ...

    def close(self) -> None:
        """Leave the terminal as it was found."""
        ...


class Feed:
    """Follows an actor and keeps its steps until they are taken.

    Nothing is shown while a step is made: what goes wrong in the terminal must not reach the actor.
    """

    def __init__(self, machine: Machine[Any, Any], clock: PacedClock) -> None:
        self._clock, self._waiting = clock, list[Step]()
        self._labels = EventLabels(machine.root)
        self._taken: list[Transition] = []
        self.steps, self.failures, self.last_ms = 0, 0, 0.0
        self.states: set[str] = set()
        self.ended = asyncio.Event()
        self._last: Snapshot[Any] | None = None
        self.actor: Actor[Any, Any] = create_actor(
            machine, id=machine.id, clock=clock, inspect=self._inspect, logger=lambda *values: None
        )
        self.actor.subscribe(None, self._fail, self.ended.set)

    def take(self) -> list[Step]:
        """The steps since the last time."""
        steps, self._waiting = self._waiting, []
        return steps

    def _inspect(self, happened: Inspection) -> None:
        if happened.actor.parent is not None:
            return
        if happened.type == MICROSTEP:
            self._taken.extend(happened.transitions)
        elif happened.type == SNAPSHOT and isinstance(happened.snapshot, Snapshot) and happened.event["type"] != STOP:
            self._tell(happened.event, happened.snapshot)

    def _fail(self, error: Any) -> None:
        # What ends an actor may still be told as a step of its own, right after its observers hear of it.
        asyncio.get_running_loop().call_soon(self._tell_failure, error)

    def _tell_failure(self, error: Any) -> None:
        """An error in a function of the machine ends it without a step; it is shown as one."""
        snapshot: Any = self.actor.get_snapshot()
        if isinstance(snapshot, Snapshot) and snapshot is not self._last:
            self._tell({"type": "xstate.error", "error": error}, snapshot)
        self.ended.set()

    def _tell(self, event: Any, snapshot: Snapshot[Any]) -> None:
        taken, self._taken, self._last = tuple(self._taken), [], snapshot
        self.steps, self.last_ms = self.steps + 1, self._clock.now()
        self.failures += event["type"].startswith("xstate.error")
        self.states.update(node.id for node in snapshot.nodes if not node.states)
        label = "start" if event["type"] == "xstate.init" else self._labels[event["type"]]
        self._waiting.append(Step(self.last_ms, event, label, taken, snapshot))
