"""The machines a runtime knows, by id and version; a hash of each chart, so that a changed one is noticed."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from antiphon.chart.machine import Machine
from antiphon.runtime.errors import UnknownMachine
from antiphon.runtime.records import Birth

AnyMachine = Machine[Any, Any]
# Every actor that is created or loaded asks for one, and a large chart takes half a millisecond.
_hashes: WeakKeyDictionary[Machine[Any, Any], str] = WeakKeyDictionary()


class Machines:
    """All versions of all machines; of each the last one given is the current one."""

    def __init__(self, machines: Iterable[Machine[Any, Any]]) -> None:
        self._current: dict[str, Machine[Any, Any]] = {}
        self._versions: dict[tuple[str, str], Machine[Any, Any]] = {}
        for machine in machines:
            self._current[machine.id] = machine
            self._versions[machine.id, json.dumps(machine.version)] = machine

    def __contains__(self, id: str) -> bool:
        return id in self._current

    def current(self, id: str) -> Machine[Any, Any]:
        """The machine that new trees run."""
        machine = self._current.get(id)
        if machine is None:
            raise UnknownMachine(f"no machine {id!r} is registered; known: {', '.join(sorted(self._current))}")
        return machine

    def version(self, id: str, version: Any) -> Machine[Any, Any]:
        """A machine in a version."""
        self.current(id)
        machine = self._versions.get((id, json.dumps(version)))
        if machine is None:
            raise UnknownMachine(
                f"{id!r} was stored by version {version!r}, which is not registered; register it beside the "
                "current one, and give that a migrate function"
            )
        return machine

    def of(self, birth: Birth) -> Machine[Any, Any]:
        """The machine a stored tree was made by, in its version."""
        machine = self.version(birth.machine, birth.version)
        if chart_hash(machine) != birth.hash:
            raise UnknownMachine(
                f"the chart of {birth.machine!r} has changed since it was stored, but its version {birth.version!r} "
                "has not; give the new chart a new version and a migrate function"
            )
        return machine


def chart_hash(machine: Machine[Any, Any]) -> str:
    """A short hash of a machine's chart, functions aside."""
    known = _hashes.get(machine)
    if known is None:
        text = json.dumps(machine.config, sort_keys=True, default=_named)
        known = _hashes[machine] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return known


def _named(value: Any) -> str:
    """Functions and built-in actions count by their names only: their code may be mended."""
    return str(getattr(value, "type", None) or getattr(value, "__name__", None) or type(value).__name__)
