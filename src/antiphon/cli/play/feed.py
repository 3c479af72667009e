"""The steps of an actor, collected for views."""

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
from antiphon.cli.play.scaled_clock import ScaledClock

STOP = "xstate.stop"  # ends a session and is not a step of the chart


@dataclass(frozen=True, slots=True)
class PlayedStep:
    """One step of the actor: its time, event, transitions and snapshot."""

    at_ms: float
    event: Any
    label: str
    transitions: tuple[Transition, ...]
    snapshot: Snapshot[Any]

    @property
    def title(self) -> str:
        """The label of the event, marked if it had no effect."""
        has_effect = self.transitions or self.event["type"].startswith("xstate.")
        return self.label if has_effect else f"{self.label} (no reaction)"


class StepView(Protocol):
    """Shows the steps of an actor."""

    def show(self, step: PlayedStep) -> None:
        """Show a step."""
        ...

    def refresh(self, now_ms: float) -> None:
        """Redraw at the time `now_ms`."""
        ...

    def on_line(self, problem: str | None) -> None:
        """Handle a line typed by the user, and show its problem if there is one."""
        ...

    def close(self) -> None:
        """Restore the terminal."""
        ...


class Feed:
    """Observes an actor and queues its steps.

    Views read the queue between steps, so that errors of the terminal never reach the actor.
    """

    def __init__(self, machine: Machine[Any, Any], clock: ScaledClock) -> None:
        self._clock = clock
        self._pending: list[PlayedStep] = []
        self._labels = EventLabels(machine.root)
        self._transitions: list[Transition] = []
        self.steps = 0
        self.failures = 0
        self.last_ms = 0.0
        self.states: set[str] = set()
        self.ended = asyncio.Event()
        self._last: Snapshot[Any] | None = None
        self.actor: Actor[Any, Any] = create_actor(
            machine, id=machine.id, clock=clock, inspect=self._inspect, logger=lambda *values: None
        )
        self.actor.subscribe(None, self._fail, self.ended.set)

    def pop_steps(self) -> list[PlayedStep]:
        """Return the steps since the last call."""
        steps = self._pending
        self._pending = []
        return steps

    def _inspect(self, inspection: Inspection) -> None:
        if inspection.actor.parent is not None:
            return
        if inspection.type == MICROSTEP:
            self._transitions.extend(inspection.transitions)
        elif (
            inspection.type == SNAPSHOT
            and isinstance(inspection.snapshot, Snapshot)
            and inspection.event["type"] != STOP
        ):
            self._add_step(inspection.event, inspection.snapshot)

    def _fail(self, error: Any) -> None:
        # The error may still arrive as a step of its own, right after observers are notified.
        asyncio.get_running_loop().call_soon(self._add_failure, error)

    def _add_failure(self, error: Any) -> None:
        """Add a step for an error in a function of the machine, which ends it without one."""
        snapshot: Any = self.actor.get_snapshot()
        if isinstance(snapshot, Snapshot) and snapshot is not self._last:
            self._add_step({"type": "xstate.error", "error": error}, snapshot)
        self.ended.set()

    def _add_step(self, event: Any, snapshot: Snapshot[Any]) -> None:
        transitions = tuple(self._transitions)
        self._transitions = []
        self._last = snapshot
        self.steps += 1
        self.last_ms = self._clock.now()
        self.failures += event["type"].startswith("xstate.error")
        self.states.update(node.id for node in snapshot.nodes if not node.states)
        label = "start" if event["type"] == "xstate.init" else self._labels[event["type"]]
        self._pending.append(PlayedStep(self.last_ms, event, label, transitions, snapshot))
