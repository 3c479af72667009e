"""The command `antiphon runs`: list, show and export runs, also while another process runs them."""

import argparse

from antiphon.cli.frame import CliCommand
from antiphon.cli.options import Subcommands, run_subcommand
from antiphon.cli.records import add_export, add_list, add_show, print_list, problem_hint, to_record
from antiphon.cli.render.text_width import clip, sanitize_line
from antiphon.cli.render.units import format_time, plural
from antiphon.money import format_usd
from antiphon.threads.kinds import ThreadView
from antiphon.threads.library import Library

MOST_TASK = 50
MOST_ERROR = 80
EMPTY = 'no runs yet; start one with: antiphon run "TASK"'
EXAMPLES = """examples:
  antiphon runs list                            list the latest runs
  antiphon runs show last                       show plan, turns and calls of the latest run
  antiphon runs export last --to report.html    export it as HTML
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser)
    add_list(commands, "runs", _list)
    add_show(commands, "run", "run")
    add_export(commands, "run", "run")


async def _list(library: Library, options: argparse.Namespace) -> int:
    views = await library.latest(options.limit, kind="run", after=options.after)
    return print_list([_row(view) for view in views], [to_record(view) for view in views], options, EMPTY)


def _row(view: ThreadView) -> str:
    facts = [view.status, plural(view.turns, "turn"), format_usd(view.cost_usd)]
    title = clip(sanitize_line(view.title), MOST_TASK)
    model = sanitize_line(view.model or "no model")
    hint = f"; continue with: antiphon run --resume {view.id}" if view.status == "interrupted" else ""
    if view.status == "failed" and view.error:
        hint += f": {clip(sanitize_line(view.error), MOST_ERROR)}"
    hint += problem_hint(view.problem)
    return f"{view.id}  {format_time(view.updated)}  {title} ({', '.join(facts)}; {model}){hint}"


COMMAND = CliCommand(
    "List, show and export runs of agents, also while they run.", add_options, run_subcommand, EXAMPLES
)
