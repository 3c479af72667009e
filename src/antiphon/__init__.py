"""Antiphon runs LLM conversations as statecharts: this is its engine and its actors."""

from antiphon.actors.actor import Actor
from antiphon.actors.callbacks import from_callback, from_transition
from antiphon.actors.clock import SimulatedClock
from antiphon.actors.creation import create_actor
from antiphon.actors.tasks import from_stream, from_task
from antiphon.actors.waiting import to_awaitable, wait_for
from antiphon.chart.actions import (
    Action,
    Enqueue,
    assign,
    cancel,
    emit,
    enqueue_actions,
    forward_to,
    log,
    raise_,
    send_parent,
    send_to,
    spawn_child,
    stop_child,
)
from antiphon.chart.config import MachineConfig, StateConfig
from antiphon.chart.errors import ChartError, EngineError, EventError, GuardError, LoopError, SnapshotError
from antiphon.chart.events import assert_event, takes
from antiphon.chart.guards import and_, not_, or_, state_in
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.scope import Scope
from antiphon.chart.setup import setup
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.text import Text
from antiphon.chart.transition import (
    get_initial_microsteps,
    get_microsteps,
    get_next_transitions,
    initial_transition,
    transition,
)
from antiphon.chart.values import matches_state

__all__ = [
    "Action",
    "Actor",
    "ChartError",
    "EngineError",
    "Enqueue",
    "EventError",
    "GuardError",
    "LoopError",
    "Machine",
    "MachineConfig",
    "Scope",
    "SimulatedClock",
    "Snapshot",
    "SnapshotError",
    "StateConfig",
    "Text",
    "and_",
    "assert_event",
    "assign",
    "cancel",
    "create_actor",
    "create_machine",
    "emit",
    "enqueue_actions",
    "forward_to",
    "from_callback",
    "from_stream",
    "from_task",
    "from_transition",
    "get_initial_microsteps",
    "get_microsteps",
    "get_next_transitions",
    "initial_transition",
    "log",
    "matches_state",
    "not_",
    "or_",
    "raise_",
    "send_parent",
    "send_to",
    "setup",
    "spawn_child",
    "state_in",
    "stop_child",
    "takes",
    "to_awaitable",
    "transition",
    "wait_for",
]
