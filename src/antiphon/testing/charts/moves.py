"""Microsteps as moves: the states that were left and entered, and the snapshots around them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from antiphon.chart.domains import Recall, exit_set, without_conflicts
from antiphon.chart.explore.situation import MachineTurn
from antiphon.chart.nodes import Node, Transition
from antiphon.chart.snapshot import Snapshot


class Move(NamedTuple):
    """One microstep; `before` is None for the first one of a machine."""

    before: Snapshot[Any] | None
    after: Snapshot[Any]
    transitions: tuple[Transition, ...]
    left: tuple[Node, ...]
    entered: tuple[Node, ...]


def moves_of(before: Snapshot[Any] | None, turn: MachineTurn) -> Iterator[Move]:
    """Yield the moves of a step that starts at a snapshot."""
    for microstep in turn.microsteps:
        yield move_of(before, microstep.snapshot, microstep.transitions)
        before = microstep.snapshot


def move_of(before: Snapshot[Any] | None, after: Snapshot[Any], selected: tuple[Transition, ...]) -> Move:
    """Return the move of a microstep with the transitions that were selected for it."""
    active = () if before is None else before.configuration.nodes
    recall = Recall({} if before is None else dict(before.history))
    transitions = without_conflicts(selected, active, recall)
    left = exit_set(transitions, active, recall)
    remaining = set(active) - set(left)
    entered = tuple(node for node in after.configuration.nodes if node not in remaining)
    return Move(before, after, tuple(transitions), tuple(left), entered)
