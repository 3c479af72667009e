"""`antiphon chart draw`: charts as pictures, diagrams, tables and text."""

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from antiphon.chart.draw.dot import to_dot
from antiphon.chart.draw.graph import GraphPicture
from antiphon.chart.draw.ladder import to_svg
from antiphon.chart.draw.tables import to_table, to_text
from antiphon.chart.explore.mermaid import to_mermaid
from antiphon.chart.machine import Machine
from antiphon.cli.chart.elk import arrange
from antiphon.cli.chart.places import active_states, active_value, add_places, find_state
from antiphon.cli.charts import find_machine
from antiphon.cli.frame import UsageError, print_lines
from antiphon.cli.options import Subcommands
from antiphon.cli.text_files import write_text

FORMATS = ("ladder", "graph", "mermaid", "dot", "table", "text")
BY_SUFFIX = {".svg": "ladder", ".mmd": "mermaid", ".dot": "dot", ".gv": "dot", ".md": "table", ".txt": "text"}


def add_draw(commands: Subcommands) -> None:
    """Add the subcommand."""
    about = "draw a chart: an SVG picture, a Mermaid or dot diagram, a table, or text"
    parser = commands.add("draw", draw, about, json=True)
    parser.add_argument("chart", metavar="CHART", help="JSON, YAML or SCXML file, machine, or module:machine")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="file to write (default: standard output)")
    help = "default: that of the file's name, else text on a terminal, else ladder"
    parser.add_argument("--as", dest="form", choices=FORMATS, help=help)
    add_places(parser)


def draw(options: argparse.Namespace) -> int:
    """Draw a chart."""
    form = options.form or _default_form(options.output)
    machine = find_machine(options.chart)
    text = _draw(machine, form, options)
    if options.output is not None:
        write_text(options.output, text)
    if options.json:
        record = {"chart": machine.id, "format": form, "file": options.output, "text": None if options.output else text}
        return print_lines([json.dumps(record, indent=2, default=str)])
    return print_lines([text.rstrip("\n") if options.output is None else str(options.output)])


def _default_form(output: Path | None) -> str:
    if output is None:
        return "text" if sys.stdout.isatty() else "ladder"
    form = BY_SUFFIX.get(output.suffix.lower())
    if form is None:
        raise UsageError(f"{output}: choose a format with --as, or a name that ends in {', '.join(BY_SUFFIX)}")
    return form


def _draw(machine: Machine[Any, Any], form: str, options: argparse.Namespace) -> str:
    inside = None if options.inside is None else find_state(machine, options.inside)
    active = active_states(machine, options)
    if active and form in ("dot", "table"):
        raise UsageError(
            f"--at, --snapshot and --events have no effect with --as {form}; use ladder, graph, mermaid or text"
        )
    if options.depth is not None and form == "table":
        raise UsageError("--depth is not for tables, which have a row for each transition; use another format")
    if form == "mermaid":
        if inside is not None or options.depth is not None:
            raise UsageError("--inside and --depth are not for Mermaid diagrams; use another format")
        return to_mermaid(machine, machine.resolve_state(active_value(machine, options)) if active else None)
    if form == "dot":
        return to_dot(machine, inside=inside, depth=options.depth)
    if form == "table":
        return to_table(machine, inside=inside)
    if form == "text":
        width = shutil.get_terminal_size().columns
        return to_text(machine, active=active, inside=inside, depth=options.depth, width=width)
    if form == "graph":
        picture = GraphPicture(machine, active=active, inside=inside, depth=options.depth)
        return picture.svg(arrange(picture.request()))
    return to_svg(machine, active=active, inside=inside, depth=options.depth)
