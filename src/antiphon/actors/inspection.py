"""Inspection events, for tools that watch an actor system."""

from typing import Any, NamedTuple

from antiphon.chart.nodes import Transition

ACTOR = "@xstate.actor"
EVENT = "@xstate.event"
SNAPSHOT = "@xstate.snapshot"
MICROSTEP = "@xstate.microstep"
ACTION = "@xstate.action"


class Inspection(NamedTuple):
    """An actor was created, got an event, took a microstep, executed an action, or has a new snapshot."""

    type: str
    actor: Any
    root_id: str
    event: Any = None
    source: Any = None
    snapshot: Any = None
    transitions: tuple[Transition, ...] = ()
    action: Any = None
