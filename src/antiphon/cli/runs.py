"""The command `antiphon runs`: list, show and export runs, also while another process runs them, and undo changes."""

import argparse

from antiphon.cli.frame import CliCommand
from antiphon.cli.lookup import settle, status_text, with_short_ids
from antiphon.cli.options import Subcommands, run_subcommand
from antiphon.cli.records import (
    add_export,
    add_list,
    add_permissions,
    add_show,
    cost_text,
    list_hint,
    print_list,
    to_record,
)
from antiphon.cli.render.text_width import clip, sanitize_line
from antiphon.cli.render.units import format_time, plural
from antiphon.cli.undo import add_undo
from antiphon.cli.windows.types import AnyLibrary
from antiphon.threads.kinds import ThreadView

MOST_TASK = 50
MOST_ERROR = 80
EMPTY = 'no runs yet; start one with: antiphon run "TASK"'
EXAMPLES = """examples:
  antiphon runs list                            list the latest runs
  antiphon runs show last                       show plan, turns and calls of the latest run
  antiphon runs export last --to report.html    export it as HTML
  antiphon runs permissions last                list what its agents may do without a question
  antiphon runs undo last --diff                show what it changed in the workspace, and ask before undoing it
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser)
    add_list(commands, "runs", _list)
    add_show(commands, "run", "run")
    add_export(commands, "run", "run")
    add_permissions(commands, "run", "run")
    add_undo(commands, "run", "run")


async def _list(library: AnyLibrary, options: argparse.Namespace) -> int:
    views = settle(await library.latest(options.limit, kind="run", after=options.after), library)
    rows = [_row(view) + list_hint(view, library) for view in await with_short_ids(library, views)]
    return print_list(rows, [to_record(view, library) for view in views], options, EMPTY)


def _row(view: ThreadView) -> str:
    facts = [status_text(view), plural(view.turns, "turn"), cost_text(view.cost_usd, view.unpriced)]
    title = clip(sanitize_line(view.title), MOST_TASK)
    model = sanitize_line(view.model or "no model")
    error = f": {clip(sanitize_line(view.error), MOST_ERROR)}" if view.status == "failed" and view.error else ""
    return f"{view.id}  {format_time(view.updated)}  {title} ({', '.join(facts)}; {model}){error}"


COMMAND = CliCommand(
    "List, show and export runs of agents, also while they run; undo what they changed.",
    add_options,
    run_subcommand,
    EXAMPLES,
    default="list",
)
