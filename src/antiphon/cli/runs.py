"""The command `antiphon runs`: what agents did, listed, read and exported, also while they are at work."""

import argparse
from dataclasses import asdict

from antiphon.cli.frame import Command
from antiphon.cli.options import Subcommands, run_subcommand
from antiphon.cli.records import add_export, add_list, add_show, say_list
from antiphon.cli.render.text_width import clip, harmless
from antiphon.cli.render.units import moment, plural
from antiphon.money import format_usd
from antiphon.threads.kinds import ThreadView
from antiphon.threads.library import Library

MOST_TASK = 50
NONE_YET = 'no runs yet: antiphon run "what is to be done" begins one'
EXAMPLES = """examples:
  antiphon runs list                            the latest runs
  antiphon runs show last                       the plan, every turn and every call of the latest one
  antiphon runs export last --to report.html    to be read, printed or sent
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser)
    add_list(commands, "runs", _list)
    add_show(commands, "run", "run")
    add_export(commands, "run", "run")


async def _list(library: Library, options: argparse.Namespace) -> int:
    views = await library.latest(options.limit, kind="run")
    return say_list([_row(view) for view in views], [asdict(view) for view in views], NONE_YET, as_json=options.json)


def _row(view: ThreadView) -> str:
    facts = [view.status, plural(view.turns, "turn"), format_usd(view.cost_usd)]
    title = clip(harmless(view.title), MOST_TASK)
    model = harmless(view.model or "no model")
    hint = f"; antiphon run --resume {view.id}" if view.status == "interrupted" else ""
    return f"{view.id}  {moment(view.updated)}  {title} ({', '.join(facts)}; {model}){hint}"


COMMAND = Command("Look at what agents did; also while they are at work.", add_options, run_subcommand, EXAMPLES)
