"""Inspection: everything that happens in an actor system, as events for tools."""

from dataclasses import dataclass
from typing import Any

from antiphon.chart.nodes import Transition

ACTOR, EVENT, SNAPSHOT, MICROSTEP, ACTION = (
    "@xstate.actor",
    "@xstate.event",
    "@xstate.snapshot",
    "@xstate.microstep",
    "@xstate.action",
)


@dataclass(frozen=True, slots=True)
class Inspection:
    """One thing that happened: an actor came to be, got an event, took a microstep, acted, or settled."""

    type: str
    actor: Any
    root_id: str
    event: Any = None
    source: Any = None
    snapshot: Any = None
    transitions: tuple[Transition, ...] = ()
    action: Any = None
