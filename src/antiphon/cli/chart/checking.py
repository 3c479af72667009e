"""`antiphon chart check`: all problems of charts, a line each."""

import argparse
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from antiphon.chart.errors import EngineError
from antiphon.chart.explore.lint import RULES, LintProblem, lint_chart
from antiphon.chart.names import Implementations
from antiphon.cli.charts import ChartFileError, find_machine, function_names, is_chart_file, placeholders, read_chart
from antiphon.cli.frame import BAD_USAGE, DONE, FAILED, UsageError, print_error, print_lines
from antiphon.cli.options import Subcommands
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.render.units import plural

KINDS = ("actions", "guards", "actors", "delays")


def add_check(commands: Subcommands) -> None:
    """Add the subcommand."""
    parser = commands.add("check", check, "print all problems of charts, as file:place: problem", json=True)
    parser.add_argument(
        "charts", metavar="CHART", nargs="+", help="JSON, YAML or SCXML file, machine, or module:machine"
    )
    parser.add_argument(
        "--functions",
        metavar="MODULE",
        help="module with mappings named actions, guards, actors and delays: names of files are looked up there",
    )
    parser.add_argument(
        "--ignore", metavar="RULE", action="append", default=[], choices=tuple(RULES), help="a rule to leave out"
    )


def check(options: argparse.Namespace) -> int:
    """Check charts; exit code 1 if one has a problem, 2 if one cannot be read."""
    functions = None if options.functions is None else _functions(options.functions)
    rows: list[tuple[str, LintProblem]] = []
    unread: list[str] = []
    for name in options.charts:
        try:
            problems = _problems(name, functions)
        except (EngineError, ChartFileError, UsageError) as error:
            unread.append(str(error))  # the others are checked all the same
            continue
        rows.extend((name, problem) for problem in problems if problem.rule not in options.ignore)
    if len(unread) == len(options.charts):
        raise UsageError("\n".join(unread))
    if options.json:
        print_lines([json.dumps([{"chart": name, **problem._asdict()} for name, problem in rows], indent=2)])
    else:
        lines = [f"{name}:{problem.path or '(root)'}: {problem.text} ({problem.rule})" for name, problem in rows]
        print_lines(
            [sanitize_line(line) for line in lines]
            or [f"{plural(len(options.charts) - len(unread), 'chart')}, no problem"]
        )
    for reason in unread:
        print_error("chart check", reason, BAD_USAGE)
    return BAD_USAGE if unread else FAILED if rows else DONE


def _problems(name: str, functions: Implementations | None) -> list[LintProblem]:
    if not is_chart_file(name):
        machine = find_machine(name)
        return lint_chart(machine.config, machine.implementations)
    config = read_chart(Path(name))
    return lint_chart(config, functions or Implementations(**placeholders(function_names(config))))


def _functions(module: str) -> Implementations:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise UsageError(f"cannot import {module!r}: {error}") from error
    mappings: dict[str, Any] = {kind: getattr(found, kind) for kind in KINDS if hasattr(found, kind)}
    if not mappings:
        raise UsageError(f"{module!r} has none of {', '.join(KINDS)}; each is a mapping of names to functions")
    return Implementations(**mappings)
