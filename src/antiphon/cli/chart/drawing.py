"""`antiphon chart draw`: charts as pictures, diagrams, tables and text."""

import argparse
import json
import shutil
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from antiphon.chart.draw.dot import to_dot
from antiphon.chart.draw.ladder import to_svg
from antiphon.chart.draw.tables import to_table, to_text
from antiphon.chart.errors import EngineError
from antiphon.chart.explore.mermaid import to_mermaid
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Node
from antiphon.cli.charts import ChartFileError, find_machine
from antiphon.cli.frame import DONE, UsageError, print_lines
from antiphon.cli.options import Subcommands
from antiphon.cli.render.plain import write

FORMATS = ("ladder", "mermaid", "dot", "table", "text")
BY_SUFFIX = {".svg": "ladder", ".mmd": "mermaid", ".dot": "dot", ".gv": "dot", ".md": "table", ".txt": "text"}


def add_draw(commands: Subcommands) -> None:
    """Add the subcommand."""
    parser = commands.add("draw", draw, "draw a chart: an SVG picture, a Mermaid or dot diagram, a table, or text")
    parser.add_argument("chart", metavar="CHART", help="JSON, YAML or SCXML file, machine, or module:machine")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="file to write (default: standard output)")
    help = "default: that of the file's name, else text on a terminal, else ladder"
    parser.add_argument("--as", dest="form", choices=FORMATS, help=help)
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--at", metavar="STATE", help='active state: a path such as a.b, or a value such as {"a": "b"}')
    place.add_argument("--snapshot", type=Path, metavar="FILE", help="snapshot whose states are active, as JSON")
    parser.add_argument("--inside", metavar="STATE", help="only this state and those inside: a path or an #id")
    parser.add_argument("--depth", type=int, metavar="N", help="levels of inner states to show")


def draw(options: argparse.Namespace) -> int:
    """Draw a chart."""
    form = options.form or _default_form(options.output)
    try:
        machine = find_machine(options.chart)
        text = _draw(machine, form, options)
    except (ChartFileError, EngineError) as error:
        raise UsageError(str(error)) from error
    if options.output is None:
        write(sys.stdout, text)
        return DONE
    try:
        options.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {options.output}: {error.strerror or error}") from error
    return print_lines([str(options.output)])


def _default_form(output: Path | None) -> str:
    if output is None:
        return "text" if sys.stdout.isatty() else "ladder"
    form = BY_SUFFIX.get(output.suffix.lower())
    if form is None:
        raise UsageError(f"{output}: choose a format with --as, or a name that ends in {', '.join(BY_SUFFIX)}")
    return form


def _draw(machine: Machine[Any, Any], form: str, options: argparse.Namespace) -> str:
    inside = None if options.inside is None else _find_state(machine, options.inside)
    active = _active(machine, options)
    if form == "mermaid":
        if inside is not None or options.depth is not None:
            raise UsageError("--inside and --depth are not for Mermaid diagrams; use another format")
        return to_mermaid(machine, machine.resolve_state(_value(options)) if active else None)
    if form == "dot":
        return to_dot(machine, inside=inside, depth=options.depth)
    if form == "table":
        return to_table(machine, inside=inside)
    if form == "text":
        width = shutil.get_terminal_size().columns
        return to_text(machine, active=active, inside=inside, depth=options.depth, width=width)
    return to_svg(machine, active=active, inside=inside, depth=options.depth)


def _active(machine: Machine[Any, Any], options: argparse.Namespace) -> Collection[Node]:
    value = _value(options)
    return () if value is None else machine.nodes_at(value)


def _value(options: argparse.Namespace) -> Any:
    """Return the state value that the options name, or None."""
    if options.snapshot is not None:
        return _snapshot_value(options.snapshot)
    if options.at is None:
        return None
    if options.at.startswith("{"):
        return _parse(options.at, "--at")
    value: Any = None
    for key in reversed(options.at.split(".")):
        value = key if value is None else {key: value}
    return value


def _snapshot_value(path: Path) -> Any:
    try:
        snapshot = _parse(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    if not isinstance(snapshot, dict) or not isinstance(snapshot.get("value"), str | dict):
        raise UsageError(f"{path}: a snapshot is a JSON object with a value")
    return snapshot["value"]


def _parse(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"{place}: invalid JSON: {error}") from error


def _find_state(machine: Machine[Any, Any], name: str) -> Node:
    if name.startswith("#"):
        return machine.get_state_node_by_id(name)
    node = machine.root
    for key in name.split("."):
        if key not in node.states:
            raise UsageError(f"no state named {key!r} inside {node.id!r}; it has {', '.join(node.states) or 'none'}")
        node = node.states[key]
    return node
