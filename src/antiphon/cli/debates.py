"""The command `antiphon debates`: list, show and export debates, also while another process runs them."""

import argparse

from antiphon.cli.frame import CliCommand
from antiphon.cli.lookup import with_short_ids
from antiphon.cli.options import Subcommands, run_subcommand
from antiphon.cli.records import add_export, add_list, add_show, cost_text, list_hint, print_list, to_record
from antiphon.cli.render.text_width import clip, sanitize_line
from antiphon.cli.render.units import format_time, plural
from antiphon.cli.windows.types import AnyLibrary
from antiphon.debate.record import DebateView
from antiphon.debate.service import latest_debates

MOST_TOPIC = 60
EMPTY = 'no debates yet; start one with: antiphon debate "TOPIC"'
EXAMPLES = """examples:
  antiphon debates list
  antiphon debates show last
  antiphon debates export 3f2a --to debate.html
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser)
    add_list(commands, "debates", _list)
    add_show(commands, "debate", "debate")
    add_export(commands, "debate", "debate")


async def _list(library: AnyLibrary, options: argparse.Namespace) -> int:
    views = await latest_debates(library, options.limit, after=options.after)
    rows = [_row(view) + list_hint(view, library) for view in await with_short_ids(library, views)]
    return print_list(rows, [to_record(view, library) for view in views], options, EMPTY)


def _row(view: DebateView) -> str:
    models = ", ".join(map(sanitize_line, view.models))
    facts = [view.format, plural(view.rounds, "round"), cost_text(view.cost_usd, view.unpriced), models]
    if view.problem is not None:
        facts = [cost_text(view.cost_usd, view.unpriced)]
    ending = "a tie" if view.tie else f"{sanitize_line(view.winner)} won" if view.winner else _status(view)
    topic = clip(sanitize_line(view.topic), MOST_TOPIC)
    described = "; ".join([ending, *facts])
    return f"{view.id}  {format_time(view.updated)}  {topic} ({described})"


def _status(view: DebateView) -> str:
    if view.outcome is not None:
        return view.outcome.replace("_", " ")
    return {"stopped": "paused", "pending": "not started"}.get(view.status, view.status)


COMMAND = CliCommand(
    "List, show and export debates, also while they run.", add_options, run_subcommand, EXAMPLES, default="list"
)
