"""Contracts of a machine that runs as an actor."""

from collections.abc import Iterable
from typing import Any

from antiphon.actors.inspection import MICROSTEP, SNAPSHOT, Inspection
from antiphon.chart.machine import Machine
from antiphon.chart.snapshot import Snapshot
from antiphon.testing.charts.contracts import Contract, ContractBroken, ContractCheck
from antiphon.testing.charts.moves import Move, move_of


class ContractMonitor:
    """Checks the contracts of the root actor of a system: `create_actor(machine, inspect=monitor.inspect)`.

    An actor does not fail by what an inspector finds, so broken contracts are kept in `broken`; `check` raises.
    """

    def __init__(self, machine: Machine[Any, Any], contracts: Iterable[Contract]) -> None:
        self.broken: list[str] = []
        self._contracts = ContractCheck(machine, contracts)
        self._before: Snapshot[Any] | None = None
        self._moves: list[Move] = []

    def inspect(self, inspection: Inspection) -> None:
        """Take an inspection event of the system."""
        snapshot = inspection.snapshot
        if inspection.actor.parent is not None or not isinstance(snapshot, Snapshot):
            return
        if inspection.type == MICROSTEP:
            self._moves.append(move_of(self._before, snapshot, inspection.transitions))
            self._before = snapshot
        elif inspection.type == SNAPSHOT:
            if self._before is None:  # the start is not inspected in microsteps
                self._moves = [move_of(None, snapshot, ())]
                self._before = snapshot
            problem = self._contracts.observe(self._moves, snapshot)
            self._moves = []
            if problem is not None:
                event = "" if inspection.event is None else f" after {inspection.event!r}"
                self.broken.append(f"{problem}{event}\n  context: {dict(snapshot.context)!r}")

    def check(self) -> None:
        """Raise `ContractBroken` if a contract did not hold."""
        if self.broken:
            raise ContractBroken("\n".join(self.broken))
