"""Former versions of machines: their charts bound to the functions of today, and snapshots moved to the present one."""

from collections.abc import Callable, Mapping
from typing import Any

from antiphon.chart.functions import from_input
from antiphon.chart.machine import Machine, Migrate
from antiphon.chart.names import Implementations

AnyMachine = Machine[Any, Any]
Json = dict[str, Any]
Snapshot = Json
# What functions of former charts get; their types were those of the former release.
Context = Any
Event = Any
Queue = Any
Changes = Mapping[str, Callable[[Snapshot], None]]


def bind_former(
    machine: AnyMachine,
    chart: Mapping[str, Any],
    *,
    actions: Mapping[str, Any] | None = None,
    guards: Mapping[str, Any] | None = None,
    context: Callable[..., Any] | None = None,
    output: Callable[..., Any] | None = None,
) -> AnyMachine:
    """Return a former chart of a machine, with its functions of today and those that only the former chart needs.

    Unless `context` makes it, a new context is that of today, with the keys that the former chart names; the output is
    that of today, unless `output` makes it.
    """
    make_output = output or machine.config.get("output")
    ending = {} if make_output is None else {"output": make_output}
    config = {**chart, "context": context or _former_context(machine, chart["context"]), **ending}
    return Machine(config, machine.implementations.merge(Implementations(actions, guards)))


def _former_context(machine: AnyMachine, keys: Mapping[str, Any]) -> Callable[[Any], Json]:
    make_context = from_input(machine.config["context"])

    def context(input: Any = None) -> Json:
        return {key: value for key, value in make_context(input, None).items() if key in keys}

    return context


def migrate_by(machine: AnyMachine, changes: Changes) -> Migrate:
    """Return the `migrate` function of a composed machine.

    `changes` has a function for the snapshots of a machine, by its id, which changes them in place. Children come
    first. Keys that a context lacks are then added with the values that they have in a new context.
    """

    def migrate(snapshot: Snapshot, version: Any) -> Snapshot:
        _migrate_actor(machine, snapshot, changes)
        return snapshot

    return migrate


def _migrate_actor(machine: AnyMachine, snapshot: Snapshot, changes: Changes) -> None:
    for child in snapshot["children"].values():
        logic = machine.logic(child["src"])
        if isinstance(logic, Machine):
            _migrate_actor(logic, child["snapshot"], changes)
    if machine.id in changes:
        changes[machine.id](snapshot)
    snapshot["context"] = {**_new_context(machine), **snapshot["context"]}


def _new_context(machine: AnyMachine) -> Json:
    context = machine.config.get("context") or {}
    values = from_input(context)({}, None) if callable(context) else context
    return dict(values)


def child_of(snapshot: Mapping[str, Any], id: str) -> Snapshot | None:
    """Return the snapshot of a child, or None if there is none."""
    child = snapshot["children"].get(id)
    return None if child is None else child["snapshot"]
