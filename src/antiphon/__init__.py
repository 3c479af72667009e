"""Antiphon runs LLM conversations as statecharts: this is its engine and its actors."""

from antiphon.actors.actor import Actor
from antiphon.actors.callbacks import from_callback, from_transition
from antiphon.actors.clock import SimulatedClock
from antiphon.actors.creation import create_actor
from antiphon.actors.tasks import from_stream, from_task
from antiphon.actors.waiting import to_awaitable, wait_for
from antiphon.chart.actions import (
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
from antiphon.chart.errors import ChartError, EngineError, EventError, GuardError, LoopError, SnapshotError
from antiphon.chart.guards import and_, not_, or_, state_in
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.text import Text
from antiphon.chart.transition import (
    get_initial_microsteps,
    get_microsteps,
    get_next_transitions,
    initial_transition,
    transition,
)
from antiphon.chart.values import matches_state
