"""Watchers: charts that watch another machine, and end when they have seen what must not happen.

A watcher gets these events, in the order in which they happen in a step: `event.TYPE` for the event that was taken,
`left.STATE` and `entered.STATE` with the paths of states, and `step` at the end. Each has the `context` of the machine
and the `event`. Delays of a watcher run in the time of the machine.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from antiphon.chart.explore.situation import MachineTurn, Situation, enter, take, take_next
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Node
from antiphon.testing.charts.moves import Move


class Watcher:
    """A chart that watches a machine."""

    def __init__(self, chart: Machine[Any, Any]) -> None:
        self._chart = chart
        self._situation = self._after(enter(chart))

    def observe(self, event: Any, moves: Sequence[Move], after: Situation) -> str | None:
        """Show a step of the machine to the watcher; return a problem if it ends the watcher, in words."""
        self._wait(after.pending.now)
        for happening in _events(event, moves, after):
            if not self._situation.is_over:
                self._situation = self._after(take(self._chart, self._situation, happening))
        return f"the watcher {self._chart.id!r} has ended" if self._situation.is_over else None

    def _wait(self, now: float) -> None:
        """Let the delayed events of the watcher arrive that are due."""
        while (first := self._situation.pending.next) is not None and first.due <= now:
            self._situation = self._after(take_next(self._chart, self._situation))
        self._situation = Situation(self._situation.snapshot, self._situation.pending.at(now), self._situation.working)

    def _after(self, turns: list[MachineTurn]) -> Situation:
        """Return the situation after turns of the watcher; raise the error of a function of it."""
        for turn in turns:
            if turn.error is not None:
                raise turn.error
        return turns[-1].situation


def _events(event: Any, moves: Sequence[Move], after: Situation) -> Iterator[dict[str, Any]]:
    """Yield the events that a watcher gets for a step."""
    yield {"type": f"event.{event['type']}", "event": event, "context": after.snapshot.context}
    for move in moves:
        facts = {"event": event, "context": move.after.context}
        yield from ({"type": f"left.{_path(node)}", **facts} for node in move.left)
        yield from ({"type": f"entered.{_path(node)}", **facts} for node in move.entered)
    yield {"type": "step", "event": event, "context": after.snapshot.context, "value": after.snapshot.value}


def _path(node: Node) -> str:
    return ".".join(node.path) or node.key
