"""The command `antiphon chart`: its subcommands."""

import argparse

from antiphon.chart.errors import EngineError
from antiphon.cli.chart.checking import add_check
from antiphon.cli.chart.comparing import add_diff
from antiphon.cli.chart.converting import add_convert
from antiphon.cli.chart.drawing import add_draw
from antiphon.cli.chart.exploring import add_paths
from antiphon.cli.charts import ChartFileError
from antiphon.cli.frame import CliCommand, UsageError
from antiphon.cli.options import Subcommands, run_subcommand
from antiphon.runtime.errors import StoreError

EPILOG = """A chart is a JSON, YAML or SCXML file, the name of a machine of Antiphon, or module:machine.

examples:
  antiphon chart check door.json
  antiphon chart draw door.json -o door.svg
  antiphon chart draw streaming --at idle
  antiphon chart draw debate --as table
  antiphon chart paths door.json
  antiphon chart diff released/door.json door.json --db threads.db
  antiphon chart convert door.scxml door.json
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser, store=False)
    add_check(commands)
    add_draw(commands)
    add_paths(commands)
    add_diff(commands)
    add_convert(commands)


def run(options: argparse.Namespace) -> int:
    """Run a subcommand; exit code 1 says that it found something, 2 that it could not."""
    try:
        return run_subcommand(options)
    except (EngineError, ChartFileError, StoreError) as error:
        raise UsageError(str(error)) from error


COMMAND = CliCommand("Check, draw, explore and compare charts.", add_options, run, EPILOG)
