"""`antiphon chart paths`: events that lead to every state, or take every transition."""

import argparse
import json
from pathlib import Path
from typing import Any

from antiphon.chart.explore.choices import Choices, child_events, open_guards
from antiphon.chart.explore.coverage import get_transition_paths
from antiphon.chart.explore.graph import ExplorationError, Options, known_events
from antiphon.chart.explore.labels import transition_label, value_label
from antiphon.chart.explore.paths import StatePath, get_shortest_paths
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.nodes import Transition
from antiphon.cli.charts import find_machine, function_names, placeholders
from antiphon.cli.frame import DONE, FAILED, UsageError, print_lines
from antiphon.cli.options import Subcommands
from antiphon.cli.render.text_width import sanitize_line

GUARDS = ("both", "hold", "real")


def add_paths(commands: Subcommands) -> None:
    """Add the subcommand."""
    about = "print paths of events that visit every state, or take every transition"
    parser = commands.add("paths", paths, about, json=True)
    parser.add_argument("chart", metavar="CHART", help="JSON, YAML or SCXML file, machine, or module:machine")
    help = "what the paths reach together (default: transitions)"
    parser.add_argument("--cover", choices=("states", "transitions"), default="transitions", help=help)
    help = "guards hold or not, in every way; hold; or are the functions of module:machine (default: both)"
    parser.add_argument("--guards", choices=GUARDS, default="both", help=help)
    parser.add_argument("--to", metavar="STATE", help="only the shortest path to this state, such as a.b")
    parser.add_argument(
        "--payloads", type=Path, metavar="FILE", help='JSON object: payloads to try by type of event, {"OPEN": [{…}]}'
    )


def paths(options: argparse.Namespace) -> int:
    """Print paths; exit code 1 if a transition is never taken, or a state never reached."""
    machine = find_machine(options.chart)
    exploration: Options = {"payloads": _payloads(options.payloads)} if options.payloads is not None else {}
    if options.guards != "real":
        machine = _without_functions(machine)
        exploration["events"] = [*known_events(machine, exploration), *child_events(machine)]
    if options.guards == "both":
        exploration["choices"] = Choices()
        machine = open_guards(machine, exploration["choices"])
    try:
        found, missing = _explore(machine, options, exploration)
    except ExplorationError as error:
        raise UsageError(str(error)) from error
    _print(found, missing, is_json=options.json)
    return FAILED if missing else DONE


def _without_functions(machine: Machine[Any, Any]) -> Machine[Any, Any]:
    """Return the chart of a machine with placeholders for its functions."""
    config = machine.config
    if callable(config.get("context")):
        config = {**config, "context": {}}
    return create_machine(config, **placeholders(function_names(config)))


def _explore(
    machine: Machine[Any, Any], options: argparse.Namespace, exploration: Options
) -> tuple[list[StatePath], dict[str, str]]:
    """Return the paths, and the reasons why transitions or states are in none of them."""
    if options.to is not None:
        found = get_shortest_paths(machine, to_state=lambda snapshot: snapshot.matches(options.to), **exploration)
        return found[:1], {} if found else {options.to: "never reached"}
    if options.cover == "states":
        return _paths_to_states(machine, exploration), {}
    result = get_transition_paths(machine, **exploration)
    return list(result.paths), {_place(transition): reason for transition, reason in result.unreached.items()}


def _paths_to_states(machine: Machine[Any, Any], exploration: Options) -> list[StatePath]:
    """Return the shortest path to each state value, whatever the context."""
    by_value: dict[str, StatePath] = {}
    for path in get_shortest_paths(machine, **exploration):
        by_value.setdefault(value_label(path.state.value), path)
    return list(by_value.values())


def _place(transition: Transition) -> str:
    return f"{transition.source.id}: {transition_label(transition)}"


def _print(found: list[StatePath], missing: dict[str, str], *, is_json: bool) -> None:
    if is_json:
        record = {"paths": [_record(path) for path in found], "missing": missing}
        print_lines([json.dumps(record, indent=2, default=str)])
    else:
        lines = [*map(str, found), *(f"not taken: {place}: {reason}" for place, reason in missing.items())]
        print_lines([sanitize_line(line) for line in lines])


def _record(path: StatePath) -> dict[str, Any]:
    steps = [
        {"event": step.event, "guards": guards, "value": step.snapshot.value}
        for step, guards in zip(path.steps, path.guards, strict=True)
    ]
    return {"start": path.start.value, "steps": steps}


def _payloads(path: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(loaded, dict) or not all(isinstance(rows, list) for rows in loaded.values()):
        raise UsageError(f'{path}: expected an object of lists, such as {{"OPEN": [{{"key": 7}}]}}')
    return loaded
