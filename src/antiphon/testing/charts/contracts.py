"""Contracts on states and transitions, and the check of them at every step of a machine.

1. `requires` of a state sees the snapshot before it is entered; for those entered at the start, the first one.
2. `invariant` of a state sees every snapshot at the end of a step in which the state is active.
3. `ensures` of a state sees the snapshot after it was left, and the one at which it was entered.
4. `requires` of a transition sees the snapshot before it, `ensures` the snapshots after and before it.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.chart.explore.labels import transition_label
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Node, Transition
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.values import matches_descriptor
from antiphon.testing.charts.moves import Move

Condition = Callable[[Snapshot[Any]], object]
Outcome = Callable[[Snapshot[Any], Snapshot[Any]], object]


class ContractBroken(AssertionError):
    """A contract does not hold; the message has the contract, the steps that led there and the context."""


@dataclass(frozen=True, slots=True)
class StateContract:
    """Conditions on a state: a path such as `a.b`, an `#id`, or nothing for the whole machine."""

    state: str = ""
    requires: Condition | None = None
    invariant: Condition | None = None
    ensures: Outcome | None = None


@dataclass(frozen=True, slots=True)
class TransitionContract:
    """Conditions on the transitions of a state for an event."""

    state: str
    event: str
    requires: Condition | None = None
    ensures: Outcome | None = None


Contract = StateContract | TransitionContract


class ContractCheck:
    """The contracts of a machine, checked as it moves."""

    def __init__(self, machine: Machine[Any, Any], contracts: Iterable[Contract]) -> None:
        self._states: dict[Node, list[StateContract]] = {}
        self._transitions: dict[Node, list[TransitionContract]] = {}
        self._entries: dict[Node, Snapshot[Any]] = {}  # at which active states were entered
        for contract in contracts:
            node = find_state(machine, contract.state)
            if isinstance(contract, StateContract):
                self._states.setdefault(node, []).append(contract)
            else:
                self._transitions.setdefault(node, []).append(contract)

    def observe(self, moves: Sequence[Move], snapshot: Snapshot[Any]) -> str | None:
        """Return the first condition that does not hold in a step, in words, or None."""
        for move in moves:
            problem = next(self._broken(move), None)
            if problem is not None:
                return problem
        for node in snapshot.nodes:
            for contract in self._states.get(node, ()):
                if contract.invariant is not None and not _holds(contract.invariant, snapshot):
                    return f"{_name(contract.invariant, 'the invariant')} of {_place(node)} does not hold"
        return None

    def _broken(self, move: Move) -> Iterator[str]:
        before = move.after if move.before is None else move.before
        for transition in move.transitions:
            yield from self._broken_by(transition, before, move.after)
        for node in move.left:
            entry = self._entries.pop(node, before)
            for contract in self._states.get(node, ()):
                if contract.ensures is not None and not _holds(contract.ensures, move.after, entry):
                    yield f"{_name(contract.ensures, 'the condition')} that {_place(node)} ensures does not hold"
        for node in move.entered:
            self._entries[node] = move.after
            for contract in self._states.get(node, ()):
                if contract.requires is not None and not _holds(contract.requires, before):
                    yield f"{_name(contract.requires, 'the condition')} that {_place(node)} requires does not hold"

    def _broken_by(self, transition: Transition, before: Snapshot[Any], after: Snapshot[Any]) -> Iterator[str]:
        for contract in self._transitions.get(transition.source, ()):
            if not matches_descriptor(transition.event_type, contract.event):
                continue
            label = f"{_place(transition.source)}: {transition_label(transition)}"
            if contract.requires is not None and not _holds(contract.requires, before):
                yield f"{_name(contract.requires, 'the condition')} that {label} requires does not hold"
            if contract.ensures is not None and not _holds(contract.ensures, after, before):
                yield f"{_name(contract.ensures, 'the condition')} that {label} ensures does not hold"


def find_state(machine: Machine[Any, Any], name: str) -> Node:
    """Return the state of a path or an `#id`; nothing is the root. Raise `EngineError` if there is none."""
    if name.startswith("#"):
        return machine.get_state_node_by_id(name)
    return machine.get_state_node_by_id(f"#{machine.id}.{name}") if name else machine.root


def _holds(condition: Callable[..., object], *snapshots: Snapshot[Any]) -> bool:
    """Return whether a condition holds; a coroutine or a generator would be true whatever it says."""
    result = condition(*snapshots)
    if inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result):
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError(f"{condition!r} is async or a generator; a condition is a plain function of snapshots")
    return bool(result)


def _name(condition: Callable[..., object], word: str) -> str:
    name = getattr(condition, "__name__", "<lambda>")
    return word if name == "<lambda>" else f"{word} {name!r}"


def _place(node: Node) -> str:
    return ".".join(node.path) or node.id
