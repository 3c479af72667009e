"""The command `antiphon play`: run a chart in the terminal, the demo or one from a file."""

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from antiphon.chart.errors import ChartError
from antiphon.chart.machine import Machine
from antiphon.cli.charts import ChartFileError, load_machine
from antiphon.cli.frame import DONE, CliCommand, UsageError, command_name, print_error
from antiphon.cli.play.demo import demo_machine
from antiphon.cli.play.feed import StepView
from antiphon.cli.play.lines import JsonLines, PlainLines
from antiphon.cli.play.scaled_clock import ScaledClock
from antiphon.cli.play.screen import Screen, draw_frame
from antiphon.cli.play.session import play_chart, play_demo
from antiphon.cli.render.plain import write

EPILOG = """With --chart, type one event per line: TYPE, TYPE {payload}, a JSON event,
'done ID' or 'error ID' for an invoked actor, or {"after": ms} to wait."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    help = "run the chart in a JSON, YAML or SCXML file, by typing events"
    parser.add_argument("--chart", type=Path, metavar="FILE", help=help)
    parser.add_argument(
        "--deny", action="append", default=[], metavar="GUARD", help="with --chart: a guard that returns false"
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--plain", action="store_true", help="print a line per step (default without a terminal)")
    group.add_argument("--json", action="store_true", help="print a JSON object per step")
    parser.add_argument("--speed", type=_speed, default=1.0, metavar="N", help="speed factor (default: 1)")


def run(options: argparse.Namespace) -> int:
    """Play a chart."""
    if options.deny and options.chart is None:
        raise UsageError("--deny needs --chart")
    try:
        asyncio.run(_run(options))
    except (ChartError, ChartFileError) as error:
        raise UsageError(str(error)) from error
    return DONE


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed <= 1_000_000:
        raise argparse.ArgumentTypeError(f"must be a number above 0 and at most 1,000,000, not {text!r}")
    return speed


async def _run(options: argparse.Namespace) -> None:
    clock = ScaledClock(options.speed)
    machine = load_machine(options.chart, options.deny) if options.chart else demo_machine(clock.pause)
    view = _view(options, machine)
    if options.chart:
        summary = await play_chart(machine, clock, view, sys.stdin)
    else:
        summary = await play_demo(machine, clock, view, f"{command_name()} play")
    if not options.json:
        _write(summary)


def _view(options: argparse.Namespace, machine: Machine[Any, Any]) -> StepView:
    if options.json:
        return JsonLines(_write, _print_problem)
    if options.plain or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return PlainLines(_write, _print_problem)
    return Screen(machine, draw_frame, prompt=options.chart is not None, encoding=sys.stdout.encoding or "utf-8")


def _write(text: str) -> None:
    write(sys.stdout, text)


def _print_problem(problem: str) -> None:
    print_error("play", problem, DONE)


COMMAND = CliCommand(
    "Run a chart in the terminal; by default a demo chat whose reply fails once and is retried.",
    add_options,
    run,
    EPILOG,
)
