"""`antiphon chart check`: all problems of charts, a line each."""

import argparse
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from antiphon.chart.explore.lint import RULES, LintProblem, lint_chart
from antiphon.chart.names import Implementations
from antiphon.cli.charts import find_machine, function_names, is_chart_file, placeholders, read_chart
from antiphon.cli.frame import DONE, FAILED, UsageError, print_lines
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
    """Check charts; exit code 1 if one has a problem."""
    functions = None if options.functions is None else _functions(options.functions)
    rows = [
        (name, problem)
        for name in options.charts
        for problem in _problems(name, functions)
        if problem.rule not in options.ignore
    ]
    if options.json:
        print_lines([json.dumps([{"chart": name, **problem._asdict()} for name, problem in rows], indent=2)])
    else:
        lines = [f"{name}:{problem.path or '(root)'}: {problem.text} ({problem.rule})" for name, problem in rows]
        print_lines([sanitize_line(line) for line in lines] or [f"{plural(len(options.charts), 'chart')}, no problem"])
    return FAILED if rows else DONE


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
