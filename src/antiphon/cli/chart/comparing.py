"""`antiphon chart diff`: changes between two charts, and which stored runs they break."""

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

from antiphon.app import try_restoring
from antiphon.chart.compare.changes import compare_charts
from antiphon.chart.compare.stored_runs import find_consequences
from antiphon.chart.draw.difference import to_difference_svg
from antiphon.chart.errors import ChartError
from antiphon.chart.machine import Machine
from antiphon.cli.chart.differences import ChartDifference, difference_lines, difference_record
from antiphon.cli.charts import find_machine, is_chart_file
from antiphon.cli.frame import DONE, FAILED, UsageError, print_lines
from antiphon.cli.options import Subcommands
from antiphon.cli.render.progress import Progress
from antiphon.runtime.replay.restoring import RestoreReport, bind_functions


def add_diff(commands: Subcommands) -> None:
    """Add the subcommand."""
    about = "print what changed between two charts, and what it means to stored runs"
    parser = commands.add("diff", diff, about, json=True)
    parser.add_argument("old", metavar="OLD", help="JSON, YAML or SCXML file, machine, or module:machine")
    parser.add_argument("new", metavar="NEW", help="as OLD")
    help = "store whose runs are restored with NEW, to see which of them would not; it is not changed"
    parser.add_argument("--db", type=Path, metavar="FILE", help=help)
    help = "text, JSON, or an SVG picture of NEW with the changes in colour (default: text)"
    parser.add_argument("--as", dest="form", choices=("text", "json", "ladder"), default="text", help=help)


def diff(options: argparse.Namespace) -> int:
    """Compare two charts; exit code 1 if the change breaks stored runs."""
    old = find_machine(options.old)
    new = find_machine(options.new)
    report = None if options.db is None else _try_restoring(options, old, new)
    difference = ChartDifference(old, new, compare_charts(old, new), find_consequences(old, new), report)
    if options.form == "ladder":
        print_lines([to_difference_svg(old, new).rstrip()])
    elif options.json or options.form == "json":
        print_lines([json.dumps(difference_record(difference), indent=2, default=str)])
    else:
        print_lines(difference_lines(difference))
    return FAILED if difference.breaks else DONE


def _try_restoring(options: argparse.Namespace, old: Machine[Any, Any], new: Machine[Any, Any]) -> RestoreReport:
    if not options.db.is_file():
        raise UsageError(f"{options.db}: store not found")
    with Progress("restoring") as progress:
        return asyncio.run(try_restoring(options.db, _with_functions(options, old, new), new, progress))


def _with_functions(
    options: argparse.Namespace, old: Machine[Any, Any], new: Machine[Any, Any]
) -> Machine[Any, Any] | None:
    """Return the old machine if its functions are known: its own, or those of the new one if that has all of them."""
    if not is_chart_file(options.old):
        return old
    if is_chart_file(options.new):
        return None
    try:
        return bind_functions(old, new)
    except ChartError:
        return None
