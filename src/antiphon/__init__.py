"""Antiphon runs LLM conversations as statecharts: this is its engine and its actors."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from antiphon.chart.explore.coverage import TransitionPaths, get_transition_paths
    from antiphon.chart.explore.graph import ExplorationError, get_adjacency
    from antiphon.chart.explore.mermaid import to_mermaid
    from antiphon.chart.explore.paths import Path, get_paths_from_events, get_shortest_paths, get_simple_paths
    from antiphon.chart.explore.play import Trace, play
    from antiphon.chart.explore.reachability import reachable_states, unreachable_states
    from antiphon.chart.explore.schema import CHART_SCHEMA

# Tools for looking at charts are loaded when they are first asked for: a program that only runs machines
# should not wait for them.
_TOOLS = {
    "to_mermaid": "antiphon.chart.explore.mermaid",
    "CHART_SCHEMA": "antiphon.chart.explore.schema",
    "play": "antiphon.chart.explore.play",
    "Trace": "antiphon.chart.explore.play",
    "get_adjacency": "antiphon.chart.explore.graph",
    "ExplorationError": "antiphon.chart.explore.graph",
    "get_shortest_paths": "antiphon.chart.explore.paths",
    "get_simple_paths": "antiphon.chart.explore.paths",
    "get_paths_from_events": "antiphon.chart.explore.paths",
    "Path": "antiphon.chart.explore.paths",
    "get_transition_paths": "antiphon.chart.explore.coverage",
    "TransitionPaths": "antiphon.chart.explore.coverage",
    "reachable_states": "antiphon.chart.explore.reachability",
    "unreachable_states": "antiphon.chart.explore.reachability",
}

__all__ = [
    "CHART_SCHEMA",
    "Action",
    "Actor",
    "ChartError",
    "EngineError",
    "Enqueue",
    "EventError",
    "ExplorationError",
    "GuardError",
    "LoopError",
    "Machine",
    "MachineConfig",
    "Path",
    "Scope",
    "SimulatedClock",
    "Snapshot",
    "SnapshotError",
    "StateConfig",
    "Text",
    "Trace",
    "TransitionPaths",
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
    "get_adjacency",
    "get_initial_microsteps",
    "get_microsteps",
    "get_next_transitions",
    "get_paths_from_events",
    "get_shortest_paths",
    "get_simple_paths",
    "get_transition_paths",
    "initial_transition",
    "log",
    "matches_state",
    "not_",
    "or_",
    "play",
    "raise_",
    "reachable_states",
    "send_parent",
    "send_to",
    "setup",
    "spawn_child",
    "state_in",
    "stop_child",
    "takes",
    "to_awaitable",
    "to_mermaid",
    "transition",
    "unreachable_states",
    "wait_for",
]


def __getattr__(name: str) -> Any:
    if name in _TOOLS:
        return getattr(import_module(_TOOLS[name]), name)
    raise AttributeError(f"module 'antiphon' has no attribute {name!r}")
