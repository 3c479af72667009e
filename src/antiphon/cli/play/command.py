"""The command `antiphon play`: plays a chart in the terminal, a demonstration or one of your own."""

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from antiphon.chart.errors import ChartError
from antiphon.chart.explore.mermaid import to_mermaid
from antiphon.chart.machine import Machine
from antiphon.cli.frame import DONE, Command, Misuse, command_name, complain
from antiphon.cli.play.charts import ChartFileError, load_machine
from antiphon.cli.play.demo import demo_machine
from antiphon.cli.play.feed import View
from antiphon.cli.play.lines import JsonLines, PlainLines
from antiphon.cli.play.scaled_clock import PacedClock
from antiphon.cli.play.screen import Screen
from antiphon.cli.play.session import play_chart, play_demo
from antiphon.cli.render.plain import write

EPILOG = """With --chart, type events, one a line: TYPE, TYPE {payload}, a JSON event,
'done ID' or 'error ID' for an invoked actor, {"after": ms} to let time pass."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--chart", type=Path, metavar="FILE", help="play the chart in a JSON file, by events you type")
    parser.add_argument("--deny", action="append", default=[], metavar="GUARD", help="with --chart: a guard that fails")
    parser.add_argument("--mermaid", action="store_true", help="print the chart as a Mermaid diagram and stop")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--plain", action="store_true", help="a line per step; the default where there is no terminal")
    shown.add_argument("--json", action="store_true", help="a JSON object per step")
    parser.add_argument("--speed", type=_speed, default=1.0, metavar="N", help="how many times as fast (default: 1)")


def run(options: argparse.Namespace) -> int:
    """Play a chart."""
    if options.deny and options.chart is None:
        raise Misuse("--deny is for charts given with --chart")
    try:
        asyncio.run(_run(options))
    except (ChartError, ChartFileError) as error:
        raise Misuse(str(error)) from error
    return DONE


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed <= 1_000_000:
        raise argparse.ArgumentTypeError(f"a speed is a positive number, not {text!r}")
    return speed


async def _run(options: argparse.Namespace) -> None:
    clock = PacedClock(options.speed)
    machine = load_machine(options.chart, options.deny) if options.chart else demo_machine(clock.pause)
    if options.mermaid:
        _write(to_mermaid(machine))
        return
    view = _view(options, machine)
    if options.chart:
        said = await play_chart(machine, clock, view, sys.stdin)
    else:
        said = await play_demo(machine, clock, view, f"{command_name()} play")
    if not options.json:
        _write(said)


def _view(options: argparse.Namespace, machine: Machine[Any, Any]) -> View:
    if options.json:
        return JsonLines(_write, _complain)
    if options.plain or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return PlainLines(_write, _complain)
    return Screen(machine, _write, prompt=options.chart is not None, encoding=sys.stdout.encoding or "utf-8")


def _write(text: str) -> None:
    write(sys.stdout, text)


def _complain(problem: str) -> None:
    complain("play", problem, DONE)


COMMAND = Command(
    "Play a chart in the terminal: by default a chat whose reply breaks off and is asked for again.",
    add_options,
    run,
    EPILOG,
)
