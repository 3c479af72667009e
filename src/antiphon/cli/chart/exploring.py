"""`antiphon chart paths`: events that lead to every state, or take every transition."""

import argparse
import json
from pathlib import Path
from typing import Any

from antiphon.chart.explore.choices import Choices, child_events, open_guards
from antiphon.chart.explore.coverage import get_transition_paths
from antiphon.chart.explore.labels import transition_label, value_label
from antiphon.chart.explore.offers import Options, known_events
from antiphon.chart.explore.pair_paths import get_pair_paths
from antiphon.chart.explore.paths import StatePath, get_shortest_paths
from antiphon.chart.explore.reachability import unreachable_states
from antiphon.chart.explore.structure import without_functions
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.nodes import Transition
from antiphon.cli.chart.path_output import FoundPaths, print_paths, print_paths_as_json, write_tests
from antiphon.cli.charts import find_machine, function_names, placeholders
from antiphon.cli.frame import DONE, FAILED, UsageError
from antiphon.cli.options import Subcommands

COVERS = ("states", "transitions", "pairs")
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
    machine = find_machine(options.chart)
    exploration: Options = {"payloads": _payloads(options.payloads)} if options.payloads is not None else {}
    if options.guards != "real":
        machine = _without_functions(machine)
        exploration["events"] = [*known_events(machine, exploration), *child_events(machine)]
    if options.guards == "both":
        exploration["choices"] = Choices()
        machine = open_guards(machine, exploration["choices"])
    result = _explore(machine, options, exploration)
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


def _explore(machine: Machine[Any, Any], options: argparse.Namespace, exploration: Options) -> FoundPaths:
    if options.to is not None:
        nearest = get_shortest_paths(machine, to_state=lambda snapshot: snapshot.matches(options.to), **exploration)
        return FoundPaths(machine, nearest[:1], {} if nearest else {options.to: "never reached"})
    if options.cover == "states":
        missing = dict.fromkeys(unreachable_states(machine, **exploration), "never entered")
        return FoundPaths(machine, _paths_to_states(machine, exploration), missing)
    if options.cover == "pairs":
        return _pair_paths(machine, exploration)
    result = get_transition_paths(machine, **exploration)
    return FoundPaths(machine, list(result.paths), _reasons(result.unreached))


def _pair_paths(machine: Machine[Any, Any], exploration: Options) -> FoundPaths:
    result = get_pair_paths(machine, **exploration)
    apart = {str(pair): reason for pair, reason in result.unreached_pairs.items()}
    return FoundPaths(machine, list(result.paths), {**_reasons(result.unreached), **apart})


def _reasons(unreached: dict[Transition, str]) -> dict[str, str]:
    """Return the reasons for transitions by label; candidates that look alike count once."""
    return {
        f"{transition.source.id}: {transition_label(transition)}": reason for transition, reason in unreached.items()
    }


def _paths_to_states(machine: Machine[Any, Any], exploration: Options) -> list[StatePath]:
    """Return the shortest path to each state value, whatever the context."""
    by_value: dict[str, StatePath] = {}
    for path in get_shortest_paths(machine, **exploration):
        by_value.setdefault(value_label(path.state.value), path)
    return list(by_value.values())


def _payloads(path: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(loaded, dict) or not all(isinstance(rows, list) for rows in loaded.values()):
        raise UsageError(f'{path}: expected an object of lists, such as {{"OPEN": [{{"key": 7}}]}}')
    return loaded
