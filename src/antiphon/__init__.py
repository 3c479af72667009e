"""Antiphon runs LLM conversations as statecharts.

Each name is loaded when it is first used.
"""

from typing import TYPE_CHECKING

from antiphon.lazy import lazy_names

if TYPE_CHECKING:
    from antiphon.actors.actor import Actor
    from antiphon.actors.callbacks import from_callback, from_transition
    from antiphon.actors.clock import SimulatedClock
    from antiphon.actors.creation import create_actor
    from antiphon.actors.errors import ActorError, NoEventLoop, NotRoot, SystemIdTaken, WaitError, WrongThread
    from antiphon.actors.logic import TaskScope
    from antiphon.actors.tasks import from_stream, from_task
    from antiphon.actors.waiting import to_awaitable, wait_for
    from antiphon.app import App, open_library
    from antiphon.blocking import BlockingApp
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
    from antiphon.chart.checks.problems import EventProblem
    from antiphon.chart.codecs import register_codec
    from antiphon.chart.config import MachineConfig, StateConfig
    from antiphon.chart.errors import (
        ChartError,
        CodecError,
        EngineError,
        EventError,
        EventRefused,
        GuardError,
        LoopError,
        SnapshotError,
        UnknownActor,
    )
    from antiphon.chart.events import assert_event, takes
    from antiphon.chart.explore.coverage import TransitionPaths, get_transition_paths
    from antiphon.chart.explore.graph import ExplorationError, get_adjacency
    from antiphon.chart.explore.mermaid import to_mermaid
    from antiphon.chart.explore.pair_paths import PairPaths, get_pair_paths
    from antiphon.chart.explore.pairs import TransitionPair
    from antiphon.chart.explore.paths import StatePath, get_paths_from_events, get_shortest_paths, get_simple_paths
    from antiphon.chart.explore.play import Trace, play
    from antiphon.chart.explore.reachability import reachable_states, unreachable_states
    from antiphon.chart.explore.schema import CHART_SCHEMA
    from antiphon.chart.guards import and_, not_, or_, state_in
    from antiphon.chart.machine import Machine, create_machine
    from antiphon.chart.scope import Scope
    from antiphon.chart.setup import setup
    from antiphon.chart.snapshot import Snapshot
    from antiphon.chart.text import GrowingText
    from antiphon.chart.transition import (
        get_initial_microsteps,
        get_microsteps,
        get_next_transitions,
        initial_transition,
        transition,
    )
    from antiphon.chart.values import matches_state
    from antiphon.runtime.errors import (
        Conflict,
        Failed,
        InboxFull,
        JournalCompacted,
        LoopFailed,
        MachineTaken,
        NotOwner,
        NotRunning,
        OtherHistory,
        Quarantined,
        ReplayDiffers,
        RootExists,
        RuntimeFault,
        StepFailed,
        StoreBusy,
        StoreCorrupt,
        StoreError,
        StoreStopped,
        Undecodable,
        UnknownLetter,
        UnknownMachine,
        UnknownRoot,
        Unstorable,
        WrongLoop,
    )
    from antiphon.runtime.index.rows import IndexChange, IndexRow, IndexText, RowCursor, RowFilter
    from antiphon.runtime.reader import Reader
    from antiphon.runtime.records import Entry, Receipt
    from antiphon.runtime.runtime import Runtime
    from antiphon.runtime.store import Projection, Store
    from antiphon.scxml.errors import ScxmlError
    from antiphon.scxml.loading import load_scxml
    from antiphon.stores.memory import MemoryStore
    from antiphon.stores.sqlite import SqliteStore

__version__ = "0.2.0"
"""Version of the package."""

__getattr__ = lazy_names(
    __name__,
    {
        "antiphon.actors.actor": ("Actor",),
        "antiphon.actors.callbacks": (
            "from_callback",
            "from_transition",
        ),
        "antiphon.actors.clock": ("SimulatedClock",),
        "antiphon.actors.creation": ("create_actor",),
        "antiphon.actors.errors": (
            "ActorError",
            "NoEventLoop",
            "NotRoot",
            "SystemIdTaken",
            "WaitError",
            "WrongThread",
        ),
        "antiphon.actors.logic": ("TaskScope",),
        "antiphon.actors.tasks": (
            "from_stream",
            "from_task",
        ),
        "antiphon.actors.waiting": (
            "to_awaitable",
            "wait_for",
        ),
        "antiphon.chart.actions": (
            "Action",
            "Enqueue",
            "assign",
            "cancel",
            "emit",
            "enqueue_actions",
            "forward_to",
            "log",
            "raise_",
            "send_parent",
            "send_to",
            "spawn_child",
            "stop_child",
        ),
        "antiphon.chart.checks.problems": ("EventProblem",),
        "antiphon.chart.codecs": ("register_codec",),
        "antiphon.chart.config": (
            "MachineConfig",
            "StateConfig",
        ),
        "antiphon.chart.errors": (
            "ChartError",
            "CodecError",
            "EngineError",
            "EventError",
            "EventRefused",
            "GuardError",
            "LoopError",
            "SnapshotError",
            "UnknownActor",
        ),
        "antiphon.chart.events": (
            "assert_event",
            "takes",
        ),
        "antiphon.chart.guards": (
            "and_",
            "not_",
            "or_",
            "state_in",
        ),
        "antiphon.chart.machine": (
            "Machine",
            "create_machine",
        ),
        "antiphon.chart.scope": ("Scope",),
        "antiphon.chart.setup": ("setup",),
        "antiphon.chart.snapshot": ("Snapshot",),
        "antiphon.chart.text": ("GrowingText",),
        "antiphon.chart.transition": (
            "get_initial_microsteps",
            "get_microsteps",
            "get_next_transitions",
            "initial_transition",
            "transition",
        ),
        "antiphon.chart.values": ("matches_state",),
        "antiphon.app": ("App", "open_library"),
        "antiphon.blocking": ("BlockingApp",),
        "antiphon.chart.explore.coverage": (
            "TransitionPaths",
            "get_transition_paths",
        ),
        "antiphon.chart.explore.graph": (
            "ExplorationError",
            "get_adjacency",
        ),
        "antiphon.chart.explore.mermaid": ("to_mermaid",),
        "antiphon.chart.explore.pair_paths": (
            "PairPaths",
            "get_pair_paths",
        ),
        "antiphon.chart.explore.pairs": ("TransitionPair",),
        "antiphon.chart.explore.paths": (
            "StatePath",
            "get_paths_from_events",
            "get_shortest_paths",
            "get_simple_paths",
        ),
        "antiphon.chart.explore.play": (
            "Trace",
            "play",
        ),
        "antiphon.chart.explore.reachability": (
            "reachable_states",
            "unreachable_states",
        ),
        "antiphon.chart.explore.schema": ("CHART_SCHEMA",),
        "antiphon.runtime.errors": (
            "Conflict",
            "Failed",
            "InboxFull",
            "JournalCompacted",
            "LoopFailed",
            "MachineTaken",
            "NotOwner",
            "NotRunning",
            "OtherHistory",
            "Quarantined",
            "ReplayDiffers",
            "RootExists",
            "RuntimeFault",
            "StepFailed",
            "StoreBusy",
            "StoreCorrupt",
            "StoreError",
            "StoreStopped",
            "Undecodable",
            "UnknownLetter",
            "UnknownMachine",
            "UnknownRoot",
            "Unstorable",
            "WrongLoop",
        ),
        "antiphon.runtime.index.rows": (
            "IndexChange",
            "IndexRow",
            "IndexText",
            "RowCursor",
            "RowFilter",
        ),
        "antiphon.runtime.reader": ("Reader",),
        "antiphon.runtime.records": (
            "Entry",
            "Receipt",
        ),
        "antiphon.runtime.runtime": ("Runtime",),
        "antiphon.runtime.store": (
            "Projection",
            "Store",
        ),
        "antiphon.scxml.errors": ("ScxmlError",),
        "antiphon.scxml.loading": ("load_scxml",),
        "antiphon.stores.memory": ("MemoryStore",),
        "antiphon.stores.sqlite": ("SqliteStore",),
    },
)

__all__ = [
    "CHART_SCHEMA",
    "Action",
    "Actor",
    "ActorError",
    "App",
    "BlockingApp",
    "ChartError",
    "CodecError",
    "Conflict",
    "EngineError",
    "Enqueue",
    "Entry",
    "EventError",
    "EventProblem",
    "EventRefused",
    "ExplorationError",
    "Failed",
    "GrowingText",
    "GuardError",
    "InboxFull",
    "IndexChange",
    "IndexRow",
    "IndexText",
    "JournalCompacted",
    "LoopError",
    "LoopFailed",
    "Machine",
    "MachineConfig",
    "MachineTaken",
    "MemoryStore",
    "NoEventLoop",
    "NotOwner",
    "NotRoot",
    "NotRunning",
    "OtherHistory",
    "PairPaths",
    "Projection",
    "Quarantined",
    "Reader",
    "Receipt",
    "ReplayDiffers",
    "RootExists",
    "RowCursor",
    "RowFilter",
    "Runtime",
    "RuntimeFault",
    "Scope",
    "ScxmlError",
    "SimulatedClock",
    "Snapshot",
    "SnapshotError",
    "SqliteStore",
    "StateConfig",
    "StatePath",
    "StepFailed",
    "Store",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "StoreStopped",
    "SystemIdTaken",
    "TaskScope",
    "Trace",
    "TransitionPair",
    "TransitionPaths",
    "Undecodable",
    "UnknownActor",
    "UnknownLetter",
    "UnknownMachine",
    "UnknownRoot",
    "Unstorable",
    "WaitError",
    "WrongLoop",
    "WrongThread",
    "__version__",
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
    "get_pair_paths",
    "get_paths_from_events",
    "get_shortest_paths",
    "get_simple_paths",
    "get_transition_paths",
    "initial_transition",
    "load_scxml",
    "log",
    "matches_state",
    "not_",
    "open_library",
    "or_",
    "play",
    "raise_",
    "reachable_states",
    "register_codec",
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
