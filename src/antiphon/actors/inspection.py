"""Inspection: everything that happens in an actor system, as events for tools."""

from typing import Any, NamedTuple

from antiphon.chart.nodes import Transition

ACTOR = "@xstate.actor"
EVENT = "@xstate.event"
SNAPSHOT = "@xstate.snapshot"
MICROSTEP = "@xstate.microstep"
ACTION = "@xstate.action"


class Inspection(NamedTuple):
    """One thing that happened: an actor came to be, got an event, took a microstep, acted, or settled."""

    type: str
    actor: Any
    root_id: str
    event: Any = None
    source: Any = None
    snapshot: Any = None
    transitions: tuple[Transition, ...] = ()
    action: Any = None
