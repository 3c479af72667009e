"""Walks through a machine: events in order, the snapshots they lead to, and contracts checked at every step."""

from collections.abc import Iterable
from typing import Any

from antiphon.chart.explore.labels import EventLabels
from antiphon.chart.explore.paths import PathStep, StatePath
from antiphon.chart.explore.situation import MachineTurn, enter, take, take_next
from antiphon.chart.machine import Machine
from antiphon.chart.snapshot import Snapshot
from antiphon.testing.charts.contracts import Contract, ContractBroken, ContractCheck
from antiphon.testing.charts.moves import Move, moves_of
from antiphon.testing.charts.watchers import Watcher


class WalkFailed(AssertionError):
    """A function of a machine raised on a walk."""


class Walk:
    """The steps of a machine from its start; printed, the states and events in order."""

    __slots__ = ("start", "steps")

    def __init__(self, start: Snapshot[Any], steps: tuple[PathStep, ...] = ()) -> None:
        self.start = start
        self.steps = steps

    @property
    def events(self) -> list[Any]:
        """The events in order."""
        return [step.event for step in self.steps]

    @property
    def snapshot(self) -> Snapshot[Any]:
        """The last snapshot."""
        return self.steps[-1].snapshot if self.steps else self.start

    @property
    def snapshots(self) -> list[Snapshot[Any]]:
        """All snapshots, that of the start included."""
        return [self.start, *(step.snapshot for step in self.steps)]

    def __str__(self) -> str:
        return str(StatePath(self.snapshot, self.steps, len(self.steps), self.start))

    def __repr__(self) -> str:
        return f"<Walk {self}; events={self.events!r}>"


class Walker:
    """A machine that takes one event after the other, with contracts and watchers."""

    def __init__(
        self,
        machine: Machine[Any, Any],
        contracts: Iterable[Contract] = (),
        watchers: Iterable[Machine[Any, Any]] = (),
        input: Any = None,
    ) -> None:
        self._machine = machine
        self._contracts = ContractCheck(machine, contracts)
        self._watchers = [Watcher(chart) for chart in watchers]
        turns = enter(machine, input)
        self.walk = Walk(turns[0].situation.snapshot)
        self.situation = turns[0].situation
        self._follow(None, turns, None)
        self.walk = Walk(self.situation.snapshot)

    def take(self, event: Any) -> None:
        """Take an event; one that the next timer sends lets time pass until it is due."""
        first = self.situation.pending.next
        is_timer = first is not None and event["type"].startswith("xstate.") and first.event["type"] == event["type"]
        before = self.situation
        machine = self._machine
        turns = take_next(machine, before) if is_timer else take(machine, before, event)
        self._follow(before.snapshot, turns, event)

    def _follow(self, before: Snapshot[Any] | None, turns: list[MachineTurn], event: Any) -> None:
        """Note the turns of an event, and check them."""
        steps = self.walk.steps
        for turn in turns:
            self.situation = turn.situation
            if event is not None:
                self.walk = Walk(self.walk.start, (*steps, PathStep(event, turn.situation.snapshot)))
            if turn.error is not None:
                raise WalkFailed(f"{turn.event!r} raised {turn.error!r}{self._place()}") from turn.error
            self._check(turn, list(moves_of(before, turn)))
            before = turn.situation.snapshot
        if event is not None and not turns:
            self.walk = Walk(self.walk.start, (*steps, PathStep(event, self.situation.snapshot)))

    def _check(self, turn: MachineTurn, moves: list[Move]) -> None:
        problem = self._contracts.observe(moves, turn.situation.snapshot)
        for watcher in self._watchers:
            problem = problem or watcher.observe(turn.event, moves, turn.situation)
        if problem is not None:
            raise ContractBroken(f"{problem}{self._place()}")

    def _place(self) -> str:
        """Return the steps so far and the context, for messages."""
        walk = self.walk
        labels = EventLabels(self._machine.root)
        events = [event for event in walk.events if len(event) > 1 and not event["type"].startswith("xstate.")]
        payloads = "".join(f"\n  {labels[event['type']]}: {event!r}" for event in events)
        return f"\n  after: {walk}{payloads}\n  context: {dict(self.situation.snapshot.context)!r}"


def run_walk(
    machine: Machine[Any, Any],
    events: Iterable[Any],
    *,
    contracts: Iterable[Contract] = (),
    watchers: Iterable[Machine[Any, Any]] = (),
    input: Any = None,
) -> Walk:
    """Let a machine take events, and check contracts and watchers at every step; return the walk.

    An event is a type or a mapping; `xstate.done.actor.<id>` ends a child, and the event of the next timer lets time
    pass until it is due. Raise `ContractBroken`, or `WalkFailed` if a function of the machine raises.
    """
    walker = Walker(machine, contracts, watchers, input)
    for event in events:
        walker.take({"type": event} if isinstance(event, str) else event)
    return walker.walk
