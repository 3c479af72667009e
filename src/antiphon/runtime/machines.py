"""The machines a runtime knows, by id and version."""

import json
from collections.abc import Iterable
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.runtime.charts import chart_hash
from antiphon.runtime.errors import UnknownMachine
from antiphon.runtime.records import Birth


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
