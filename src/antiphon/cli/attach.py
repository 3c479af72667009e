"""The command `antiphon attach`: watch a thread that another terminal or a page has started, in the screen of its kind.

Leaving changes nothing: the server goes on with the thread. Requests of the thread are answered by the first who does.
"""

import argparse
import asyncio
import sys
from dataclasses import replace
from importlib import import_module

from antiphon.cli.frame import CliCommand
from antiphon.cli.lookup import CURRENT, LISTS, find_thread, latest_with, next_command, short_id, status_text
from antiphon.cli.options import ID_HELP, LAST, add_json, add_server, add_store
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import clip, sanitize_line
from antiphon.cli.windows.access import open_records
from antiphon.threads.errors import Refused, UnknownThread
from antiphon.threads.kinds import ThreadView

# The module of each kind, with a function `attach` that takes the options and the id.
SCREENS = {
    "chat": "antiphon.cli.chat.attach",
    "run": "antiphon.cli.run.attach",
    "debate": "antiphon.cli.debate.attach",
}
MOST_TITLE = 60
NONE = "nothing runs or waits; continue a conversation with: antiphon resume"
EXAMPLES = """examples:
  antiphon attach           watch the last that runs or waits
  antiphon attach 3f2a      watch the one whose id starts with 3f2a

q, Ctrl-D and Ctrl-C leave it running; s stops it. antiphon ps lists what runs or waits.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    about = f"{ID_HELP} (default: the last that runs or waits)"
    parser.add_argument("id", metavar="ID", nargs="?", default=LAST, help=about)
    add_json(parser, "print each activity as a JSON object")
    parser.add_argument("--plain", action="store_true", help="print plain text")
    add_store(parser)
    add_server(parser)


def run(options: argparse.Namespace) -> int:
    """Watch a thread in the screen of its kind."""
    view, id, is_unowned = asyncio.run(_find(options))
    kind = view.kind or "chat"
    if view.status not in CURRENT or is_unowned:
        command = next_command(replace(view, id=id), is_unowned=True)
        advice = f"continue it with: {command}" if command else f"show it with: antiphon {LISTS[kind]} show {id}"
        status = "interrupted: no process runs it" if is_unowned and view.status in CURRENT else view.status
        raise Refused(f"{kind} {id} is {status}; {advice}")
    title = clip(sanitize_line(view.title), MOST_TITLE)
    write(sys.stderr, f"attached to {kind} {id}: {title} ({status_text(view)})\n")
    code: int = import_module(SCREENS[kind]).attach(options, view.id)
    return code


async def _find(options: argparse.Namespace) -> tuple[ThreadView, str, bool]:
    """Return the thread to watch, the short form of its id, and whether no process has its store."""
    async with open_records(options) as library:
        if options.id != LAST:
            views = [(await library.read(await find_thread(library, options.id))).view]
        else:
            views = await latest_with(library, CURRENT)
        if not views:
            raise UnknownThread(NONE)
        return views[0], await short_id(library, views[0].id), library.is_unowned


COMMAND = CliCommand(
    "Watch a chat, a run or a debate that another terminal or a page has started; answer it, stop it, or leave it.",
    add_options,
    run,
    EXAMPLES,
    interrupted="left; it continues",
    works=True,
)
