"""Registered machines by id and version, and hashes of their charts, by which a changed chart is noticed."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from antiphon.chart.machine import Machine
from antiphon.runtime.errors import UnknownMachine
from antiphon.runtime.records import Origin

AnyMachine = Machine[Any, Any]
# Needed whenever a root actor is created or loaded; a large chart takes half a millisecond.
_hashes: WeakKeyDictionary[AnyMachine, str] = WeakKeyDictionary()


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
                "version, and give the current version a migrate function"
            )
        return machine

    def of(self, origin: Origin) -> AnyMachine:
        """Return the machine, in the version, that a stored tree runs."""
        machine = self.version(origin.machine, origin.version)
        if chart_hash(machine) != origin.hash:
            raise UnknownMachine(
                f"the chart of {origin.machine!r} has changed since it was stored, but its version {origin.version!r} "
                "has not; give the new chart a new version and a migrate function"
            )
        return machine


def chart_hash(machine: AnyMachine) -> str:
    """Return a short hash of the chart of a machine, without its functions."""
    digest = _hashes.get(machine)
    if digest is None:
        text = json.dumps(machine.config, sort_keys=True, default=_name_of)
        digest = _hashes[machine] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return digest


def _name_of(value: Any) -> str:
    """Return the name of a function or built-in action: its code may change without changing the chart."""
    return str(getattr(value, "type", None) or getattr(value, "__name__", None) or type(value).__name__)
