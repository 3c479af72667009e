"""Actors of a tree as JSON: their states and charts, and a step with the transitions that it took."""

from collections.abc import Iterator, Mapping
from typing import Any

from antiphon.runtime.machines import AnyMachine, chart_hash, child_machines
from antiphon.runtime.paths import child_path
from antiphon.runtime.replay.microsteps import observe_step
from antiphon.runtime.runtime import Runtime
from antiphon.server.streams import entry_row


def actor_rows(snapshot: Mapping[str, Any], machine: AnyMachine) -> list[dict[str, Any]]:
    """Return the actors of a snapshot of a tree, without the events that they take."""
    return list(_walk(snapshot, "", machine.id, machine))


def _walk(
    snapshot: Mapping[str, Any], address: str, src: str | None, machine: AnyMachine | None
) -> Iterator[dict[str, Any]]:
    yield {
        "address": address,
        "src": src,
        "status": snapshot.get("status"),
        "value": snapshot.get("value"),
        "machine": None if machine is None else machine.id,
        "hash": None if machine is None else chart_hash(machine),
    }
    machines = {} if machine is None else child_machines(machine)
    for id, child in (snapshot.get("children") or {}).items():
        source = child.get("src")
        yield from _walk(child["snapshot"], child_path(address, id), source, machines.get(source))


async def read_observed(runtime: Runtime, root: str, step: int) -> dict[str, Any]:
    """Return a step of a tree as JSON, with the actors after it and the transitions that they took."""
    entry, tree, taken = await observe_step(runtime.store, runtime.time_travel, root, step)
    snapshot = tree.view()
    rows = actor_rows(snapshot, tree.machine)
    for row in rows:
        row["can"] = list(tree.can(row["address"]))
    transitions = [
        {
            "actor": each.actor,
            "source": each.source,
            "event": each.event,
            "index": each.place,
            "targets": list(each.targets),
        }
        for each in taken
    ]
    return {"id": root, "entry": entry_row(entry), "actors": rows, "snapshot": snapshot, "taken": transitions}
