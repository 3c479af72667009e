"""Registered machines by id and version, and hashes of their charts, by which changed behaviour is noticed."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from importlib.resources import files
from typing import Any
from weakref import WeakKeyDictionary

from antiphon.chart.machine import Machine
from antiphon.runtime.behaviour import behaviour, name_of
from antiphon.runtime.errors import UnknownMachine
from antiphon.runtime.records import Origin

AnyMachine = Machine[Any, Any]
FORMAT = "2:"  # how hashes of behaviour begin; earlier releases hashed the text of a chart, and had no prefix
# Needed whenever a root actor is created or loaded; a large tree of charts takes some milliseconds.
_hashes: WeakKeyDictionary[AnyMachine, str] = WeakKeyDictionary()
_earlier: WeakKeyDictionary[AnyMachine, frozenset[str]] = WeakKeyDictionary()


class Machines:
    """All versions of all machines; the last one registered under an id is its current version."""

    def __init__(self, machines: Iterable[AnyMachine]) -> None:
        self._current: dict[str, AnyMachine] = {}
        self._versions: dict[tuple[str, str], AnyMachine] = {}
        for machine in machines:
            self._current[machine.id] = machine
            self._versions[machine.id, json.dumps(machine.version)] = machine

    def __contains__(self, id: str) -> bool:
        return id in self._current

    @cached_property
    def declare_events(self) -> bool:
        """True if a machine, or one of a child, declares events."""
        return any(each.event_types for machine in self._versions.values() for each in descendants(machine))

    def all(self) -> list[AnyMachine]:
        """Return the machines in all versions, in the order in which they were registered."""
        return list(self._versions.values())

    def current(self, id: str) -> AnyMachine:
        """Return the version of a machine that new trees run."""
        machine = self._current.get(id)
        if machine is None:
            raise UnknownMachine(f"no machine {id!r} is registered; registered are: {', '.join(sorted(self._current))}")
        return machine

    def version(self, id: str, version: Any) -> AnyMachine:
        """Return a machine in a version."""
        self.current(id)
        machine = self._versions.get((id, json.dumps(version)))
        if machine is None:
            raise UnknownMachine(
                f"{id!r} was stored by version {version!r}, which is not registered; register it beside the current "
                "version, and give the current version a migrate function, or run the release that stored it"
            )
        return machine

    def of(self, origin: Origin) -> AnyMachine:
        """Return the machine, in the version, that a stored tree runs."""
        machine = self.version(origin.machine, origin.version)
        if not is_hash_of(origin.hash, machine):
            raise UnknownMachine(
                f"the chart of {origin.machine!r}, or of a child, has changed since it was stored, but its version "
                f"{origin.version!r} has not; give the new chart a new version and a migrate function, and register "
                "the old chart beside it"
            )
        return machine


def can_run(machines: Machines, id: str, version: Any, hash: str) -> bool:
    """Return whether a version of a machine is registered, with the chart that a stored tree runs."""
    try:
        machines.of(Origin("", id, version, hash))
    except UnknownMachine:
        return False
    return True


def descendants(machine: AnyMachine) -> list[AnyMachine]:
    """Return a machine and the machines of its children, each once, in the order of their names."""
    listed: dict[AnyMachine, None] = {}
    pending = [machine]
    while pending:
        current = pending.pop(0)
        if current not in listed:
            listed[current] = None
            pending += child_machines(current).values()
    return list(listed)


def chart_hash(machine: AnyMachine) -> str:
    """Return a short hash of the behaviour that the chart of a machine describes, with the charts of its children."""
    digest = _hashes.get(machine)
    if digest is None:
        digest = _hashes[machine] = _hash_tree(machine, {})
    return digest


def is_hash_of(stored: str, machine: AnyMachine) -> bool:
    """Return whether a stored hash, also one that an earlier release computed, is of the chart of a machine."""
    return stored == chart_hash(machine) or stored in _earlier_hashes(machine)


def hash_by_text(config: Mapping[str, Any]) -> str:
    """Return the hash that earlier releases stored: of the whole text of a chart, without its children."""
    return _digest(json.dumps(config, sort_keys=True, default=name_of))


def hash_alone(machine: AnyMachine) -> str:
    """Return a hash of the behaviour that a chart describes, without its children."""
    return FORMAT + _digest(json.dumps(behaviour(machine), sort_keys=True))


@cache
def former_hashes() -> dict[str, list[str]]:
    """Return the hashes that earlier releases stored for charts of the package, by the hash of the chart alone."""
    text = files("antiphon.runtime").joinpath("former_hashes.json").read_text(encoding="utf-8")
    former: dict[str, list[str]] = json.loads(text)
    return former


def _earlier_hashes(machine: AnyMachine) -> frozenset[str]:
    """Return the hashes that earlier releases may have stored for a chart."""
    earlier = _earlier.get(machine)
    if earlier is None:
        former = former_hashes().get(hash_alone(machine), ())
        earlier = _earlier[machine] = frozenset((hash_by_text(machine.config), *former))
    return earlier


def _hash_tree(machine: AnyMachine, hashes: dict[AnyMachine, str]) -> str:
    """Hash a chart with its children; a machine that is its own descendant counts by its id there."""
    if machine not in hashes:
        hashes[machine] = f"recursive {machine.id}"
        inner = {name: _hash_tree(child, hashes) for name, child in child_machines(machine).items()}
        hashes[machine] = FORMAT + _digest(json.dumps([hash_alone(machine), inner], sort_keys=True))
    return hashes[machine]


def child_machines(machine: AnyMachine) -> dict[str, AnyMachine]:
    """Return the machines among the actors that a machine can start, by the names it has for them."""
    names = machine.implementations
    actors = {**names.actors, **names.inline_actors}
    return {name: logic for name, logic in sorted(actors.items()) if isinstance(logic, Machine)}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
