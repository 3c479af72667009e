"""`antiphon chart paths`: events that lead to every state, or take every transition."""

import argparse
import json
from pathlib import Path
from typing import Any

from antiphon.chart.explore.choices import Choices, child_events, open_guards
from antiphon.chart.explore.offers import Options, known_events
from antiphon.chart.explore.structure import without_functions
from antiphon.chart.machine import Machine, create_machine
from antiphon.cli.chart.covers import COVERS, explore_chart
from antiphon.cli.chart.path_output import print_paths, print_paths_as_json, write_tests
from antiphon.cli.charts import find_machine, function_names, placeholders
from antiphon.cli.frame import DONE, FAILED, UsageError
from antiphon.cli.options import Subcommands

GUARDS = ("both", "hold", "real")


def add_paths(commands: Subcommands) -> None:
    """Add the subcommand."""
    about = "print paths of events that visit every state, or take every transition"
    parser = commands.add("paths", paths, about, json=True)
    parser.add_argument("chart", metavar="CHART", help="JSON, YAML or SCXML file, machine, or module:machine")
    help = "what the paths reach together (default: transitions)"
    parser.add_argument("--cover", choices=COVERS, default="transitions", help=help)
    help = "guards hold or not, in every way; hold; or are the functions of module:machine (default: both)"
    parser.add_argument("--guards", choices=GUARDS, default="both", help=help)
    parser.add_argument("--to", metavar="STATE", help="only the shortest path to this state, such as a.b")
    help = "text, JSON, or tests for pytest, with handlers to fill in (default: text)"
    parser.add_argument("--as", dest="form", choices=("text", "json", "pytest"), default="text", help=help)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="new file to write the tests to")
    help = "write tests whose methods are async; with --as pytest"
    parser.add_argument("--async", dest="is_async", action="store_true", help=help)
    parser.add_argument(
        "--payloads", type=Path, metavar="FILE", help='JSON object: payloads to try by type of event, {"OPEN": [{…}]}'
    )


def paths(options: argparse.Namespace) -> int:
    """Print paths; exit code 1 if a transition is never taken, or a state never reached."""
    if options.output is not None and options.form != "pytest":
        raise UsageError("-o is for tests; add --as pytest")
    if options.is_async and options.form != "pytest":
        raise UsageError("--async is for tests; add --as pytest")
    if options.json and options.form == "pytest":
        raise UsageError("--json is for paths, and --as pytest writes Python; use one of them")
    machine = find_machine(options.chart)
    exploration: Options = {} if options.payloads is None else {"payloads": _payloads(options.payloads, machine)}
    if options.guards != "real":
        machine = _without_functions(machine)
        exploration["events"] = [*known_events(machine, exploration), *child_events(machine)]
    if options.guards == "both":
        exploration["choices"] = Choices()
        machine = open_guards(machine, exploration["choices"])
    result = explore_chart(machine, options.cover, options.to, exploration)
    if options.form == "pytest":
        write_tests(result, options.output, is_async=options.is_async)
    elif options.json or options.form == "json":
        print_paths_as_json(result)
    else:
        print_paths(result)
    return FAILED if result.missing else DONE


def _without_functions(machine: Machine[Any, Any]) -> Machine[Any, Any]:
    """Return the chart of a machine with placeholders for its functions."""
    config = without_functions(machine.config)
    return create_machine(config, **placeholders(function_names(config)))


def _payloads(path: Path, machine: Machine[Any, Any]) -> dict[str, list[dict[str, Any]]]:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(loaded, dict) or not all(
        isinstance(rows, list) and all(isinstance(row, dict) for row in rows) for rows in loaded.values()
    ):
        raise UsageError(f'{path}: expected an object of lists, such as {{"OPEN": [{{"key": 7}}]}}')
    types = {type for node in machine.root.walk() for type in node.on if not type.startswith("xstate.")}
    unknown = [type for type in loaded if type not in types]
    if unknown:
        raise UsageError(f"{path}: no event {unknown[0]!r} in the chart; it has {', '.join(sorted(types)) or 'none'}")
    return loaded
