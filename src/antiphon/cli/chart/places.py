"""States of a chart that options name: those that are active, and the part to draw."""

import argparse
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from antiphon.chart.explore.play import play
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Node
from antiphon.cli.frame import UsageError


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the options that name states."""
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--at", metavar="STATE", help='active state: a path such as a.b, or a value such as {"a": "b"}')
    place.add_argument("--snapshot", type=Path, metavar="FILE", help="snapshot whose states are active, as JSON")
    help = "events, as types or JSON objects; the states after them are active"
    place.add_argument("--events", metavar="EVENT", nargs="+", help=help)
    parser.add_argument("--inside", metavar="STATE", help="only this state and those inside: a path or an #id")
    parser.add_argument("--depth", type=_depth, metavar="N", help="levels of inner states to show")


def _depth(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of levels, which is 0 or more")
    return int(text)


def active_states(machine: Machine[Any, Any], options: argparse.Namespace) -> Collection[Node]:
    """Return the states that the options say are active."""
    value = active_value(machine, options)
    return () if value is None else machine.nodes_at(value)


def active_value(machine: Machine[Any, Any], options: argparse.Namespace) -> Any:
    """Return the state value that the options name, or None."""
    if options.events is not None:
        return play(
            machine, [_parse(each, "--events") if "{" in each else each for each in options.events]
        ).snapshot.value
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


def find_state(machine: Machine[Any, Any], name: str) -> Node:
    """Return the state of a path or an #id."""
    if name.startswith("#"):
        return machine.get_state_node_by_id(name)
    node = machine.root
    for key in name.split("."):
        if key not in node.states:
            raise UsageError(f"no state named {key!r} inside {node.id!r}; it has {', '.join(node.states) or 'none'}")
        node = node.states[key]
    return node
