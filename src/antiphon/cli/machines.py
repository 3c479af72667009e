"""The command `antiphon machines`: machines, their events, and which of them may come from outside."""

import argparse
import json
from typing import Any

from antiphon.app import own_machines
from antiphon.cli.db.replay import add_machines, load_all
from antiphon.cli.frame import CliCommand, UsageError, print_lines, print_rows
from antiphon.cli.options import Subcommands, run_subcommand
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.render.units import plural
from antiphon.runtime.machines import AnyMachine, descendants

NOT_CHECKED = "events are not declared, so they are not checked"
EXAMPLES = """examples:
  antiphon machines
  antiphon machines show debate
  antiphon machines show debate --json          the JSON Schema of each event
  antiphon machines list --of shop.charts:order  a machine of yours
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser, store=False)
    listing = commands.add("list", _list, "list machines, and whether their events are checked", json=True)
    add_machines(listing, "--of", "list")
    showing = commands.add("show", _show, "print the events of a machine, as JSON with their schemas", json=True)
    showing.add_argument("name", metavar="NAME", help="id of a machine")
    add_machines(showing, "--of", "search")


def _machines(options: argparse.Namespace) -> dict[str, AnyMachine]:
    roots = load_all(options.of)
    machines = own_machines() if roots is None else [machine for root in roots for machine in descendants(root)]
    return {machine.id: machine for machine in machines}


def _list(options: argparse.Namespace) -> int:
    machines = _machines(options).values()
    if options.json:
        return print_lines([json.dumps([_record(machine) for machine in machines], indent=2)])
    return print_rows([sanitize_line(f"{machine.id}  {_describe(machine)}") for machine in machines])


def _describe(machine: AnyMachine) -> str:
    types = machine.event_types
    if types is None or not types.names:
        return NOT_CHECKED
    outside = sum(map(types.is_public, types.names))
    return f"{plural(len(types.names), 'event')}, checked; {outside} may come from outside"


def _record(machine: AnyMachine) -> dict[str, Any]:
    types = machine.event_types
    names = [] if types is None else types.names
    return {
        "id": machine.id,
        "version": machine.version,
        "checked": bool(names),
        "events": list(names),
        "public": [name for name in names if types is not None and types.is_public(name)],
    }


def _show(options: argparse.Namespace) -> int:
    machines = _machines(options)
    machine = machines.get(options.name)
    if machine is None:
        raise UsageError(f"there is no machine {options.name!r}; known: {', '.join(sorted(machines))}")
    types = machine.event_types
    if options.json:
        schemas = {} if types is None else {name: types.json_schema(name) for name in types.names}
        return print_lines([json.dumps({**_record(machine), "schemas": schemas}, indent=2)])
    if types is None or not types.names:
        return print_lines([sanitize_line(f"{machine.id}  {NOT_CHECKED}")])
    return print_lines([line for name in types.names for line in _event_lines(machine, name)])


def _event_lines(machine: AnyMachine, name: str) -> list[str]:
    types = machine.event_types
    assert types is not None
    lines = [f"{name}{'' if types.is_public(name) else ' (internal)'}: {types.description(name)}"]
    for field in types.fields(name):
        lines.append(f"  {field.name}: {field.expected}{'' if field.is_required else ', optional'}")
    return [sanitize_line(line) for line in lines]


COMMAND = CliCommand(
    "List machines with their events: which are checked, and which may come from outside.",
    add_options,
    run_subcommand,
    EXAMPLES,
    default="list",
)
