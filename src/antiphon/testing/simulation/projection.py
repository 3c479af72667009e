"""Projection of any machine, for simulations: its state in a row, and the events that changed it as texts."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from antiphon.runtime.index.rows import IndexChange, IndexRow, IndexText
from antiphon.runtime.records import Entry

Json = Mapping[str, Any]


class StateProjection:
    """Indexes trees by the states of their root and its children."""

    version = 1

    def __init__(self, machines: Collection[str]) -> None:
        self.machines = frozenset(machines)

    def project(self, before: Json | None, after: Json, entry: Entry) -> IndexChange | None:
        """Return a row with the states after a step, and its event, unless the states are the same."""
        states = _states(after)
        if before is not None and states == _states(before):
            return None
        row = IndexRow("tree", str(after["value"]), facts=states)
        return IndexChange(entry.at, row, (IndexText(str(entry.seq), entry.at, entry.event["type"]),))

    def project_journal(self, root: str, input: Any, entries: Sequence[Entry], error: Exception) -> IndexChange:
        """Return a row with the error."""
        return IndexChange(entries[-1].at if entries else 0, IndexRow("tree", "unreadable", facts=repr(error)))


def _states(state: Json) -> dict[str, Any]:
    children = {id: child["snapshot"]["value"] for id, child in state["children"].items()}
    return {"value": state["value"], "keys": sorted(state["context"]), "children": children}
