"""`antiphon db replay` and `reindex`: journals replayed with the code of today, and indexed again."""

import argparse
import asyncio
import importlib
import json
import os
import sys
from typing import Any

from antiphon.app import reindex, replay_journals
from antiphon.cli.frame import DONE, FAILED, INTERRUPTED, UsageError, print_error, print_lines
from antiphon.cli.options import TREE_HELP, Subcommands, existing_store
from antiphon.cli.render.progress import Progress
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.render.units import plural
from antiphon.runtime.replay.dry_run import TreeReplay

MANY_TREES = 200  # that take more than a second to index


def add_replay(commands: Subcommands) -> None:
    """Add the subcommands."""
    commands.add("reindex", _reindex, "write the index of lists and searches again, from the journals", json=True)
    about = "replay journals with the code of today and show what would differ; changes nothing"
    parser = commands.add("replay", replay, about, json=True)
    parser.add_argument("--root", metavar="ID", help=f"only {TREE_HELP}")
    add_machines(parser)


def add_machines(parser: argparse.ArgumentParser, option: str = "--against", verb: str = "replay with") -> None:
    """Add the option that names machines."""
    parser.add_argument(
        option,
        metavar="MODULE:NAME",
        action="append",
        help=f"a machine, or a list of machines, to {verb} instead of those of Antiphon; may be repeated",
    )


def _reindex(options: argparse.Namespace) -> int:
    try:
        with Progress("indexing", MANY_TREES) as progress:
            count = asyncio.run(reindex(existing_store(options), progress, everything=True))
    except KeyboardInterrupt:
        problem = "interrupted; the other trees are indexed when the store is opened next"
        return print_error("db", problem, INTERRUPTED)
    record = json.dumps({"indexed": count}, indent=2)
    return print_lines([record if options.json else f"indexed {plural(count, 'tree')}"])


def replay(options: argparse.Namespace) -> int:
    """Replay journals and print what differs; exit code 1 if anything does."""
    machines = load_all(options.against)
    with Progress("replaying") as progress:
        reports = asyncio.run(replay_journals(existing_store(options), machines, options.root, progress))
    if options.json:
        print_lines([json.dumps([_record(report) for report in reports], indent=2, default=str)])
    else:
        print_lines([sanitize_line(line) for report in reports for line in _lines(report)] or ["no trees"])
    return DONE if all(report.is_same for report in reports) else FAILED


def load_all(names: list[str] | None) -> list[Any] | None:
    """Import machines by their names; return None if there are no names."""
    return None if names is None else [machine for name in names for machine in load_machines(name)]


def load_machines(name: str) -> list[Any]:
    """Import the machines of `module:name`; the current folder is searched too."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise UsageError(f"{name!r} is not of the form module:name")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        value = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"cannot import {name!r}: {error}") from error
    machines = list(value) if isinstance(value, list | tuple) else [value]
    for machine in machines:
        if not hasattr(machine, "config"):
            raise UsageError(f"{name!r} is a {type(machine).__name__}, not a machine or a list of machines")
    return machines


def _lines(report: TreeReplay) -> list[str]:
    name = f"{report.root} ({report.machine})"
    if report.is_same:
        return [f"{name}: {plural(report.steps, 'step')}, all the same"]
    lines = [f"{name}: {report.differences[0].text}"] if report.differences else []
    if len(report.differences) > 1:
        lines.append(f"{name}: {plural(len(report.differences) - 1, 'later step')} differ, perhaps for this reason")
    return lines if report.problem is None else [*lines, f"{name}: cannot be replayed: {report.problem}"]


def _record(report: TreeReplay) -> dict[str, Any]:
    return {**report._asdict(), "differences": [difference._asdict() for difference in report.differences]}
