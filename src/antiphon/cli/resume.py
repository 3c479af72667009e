"""The command `antiphon resume`: a thread of any kind is continued in the screen of its kind.

Nothing that has ended is paid for again: a run or a debate that is over is shown.
"""

import argparse
import asyncio
import sys

from antiphon.cli.frame import CliCommand
from antiphon.cli.lookup import UNFINISHED, find_thread, latest_with, settle, short_id, status_text
from antiphon.cli.main import dispatch
from antiphon.cli.options import ID_HELP, add_no_server, add_store
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import clip, sanitize_line
from antiphon.cli.windows.access import open_records
from antiphon.cli.windows.types import AnyLibrary
from antiphon.threads.errors import UnknownThread
from antiphon.threads.kinds import ThreadView

MOST_TITLE = 60
PAUSED = "stopped"
# Statuses in which a run, or a debate, has nothing left to do.
ENDED = {"run": ("pending", "completed", "failed", "stopped"), "debate": ("completed",)}
NONE = "no conversations yet; start one with: antiphon chat"
EXAMPLES = """examples:
  antiphon resume           continue the last that is not finished, else open the last
  antiphon resume last      continue or open the last, finished or not
  antiphon resume 3f2a      continue or open the one whose id starts with 3f2a
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    about = f"{ID_HELP} (default: the last that is not finished, else the last)"
    parser.add_argument("id", metavar="ID", nargs="?", help=about)
    add_store(parser)
    add_no_server(parser)
    parser.set_defaults(server=None)


def run(options: argparse.Namespace) -> int:
    """Continue a thread by the command of its kind, or show it if it has ended."""
    view, id = asyncio.run(_find(options))
    words = _words(view)
    title = clip(sanitize_line(view.title), MOST_TITLE)
    command = " ".join(words).replace(view.id, id)
    write(sys.stderr, f"{view.kind or 'chat'} {id}: {title} ({status_text(view)}); antiphon {command}\n")
    store = [] if options.store is None else ["--store", str(options.store)]
    is_shown = words[1] == "show"
    return dispatch(words[0], [*words, *store, *(["--no-server"] if options.no_server and not is_shown else [])])


async def _find(options: argparse.Namespace) -> tuple[ThreadView, str]:
    """Return the thread to continue, as lists show it, and the short form of its id."""
    async with open_records(options) as library:
        if options.id is not None:
            views = [(await library.read(await find_thread(library, options.id))).view]
        else:
            views = await _latest_unfinished(library) or await library.latest(1)
        if not views:
            raise UnknownThread(NONE)
        (view,) = settle(views, library)
        return view, await short_id(library, view.id)


async def _latest_unfinished(library: AnyLibrary) -> list[ThreadView]:
    """Return the latest thread that is not finished; a debate that was stopped is paused."""
    views = await latest_with(library, UNFINISHED) + await library.latest(1, kind="debate", status=PAUSED)
    return sorted(views, key=lambda view: view.updated, reverse=True)[:1]


def _words(view: ThreadView) -> list[str]:
    """Return the words of the command that continues a thread, or shows it."""
    kind = view.kind or "chat"
    if view.problem is not None:
        return ["threads", "show", view.id]
    if view.status in ENDED.get(kind, ()):
        return [f"{kind}s", "show", view.id]
    return ["chat", "--thread", view.id] if kind == "chat" else [kind, "--resume", view.id]


COMMAND = CliCommand(
    "Continue a chat, a run or a debate where it was, in its own screen. What has ended is shown, and not paid again.",
    add_options,
    run,
    EXAMPLES,
    works=True,
)
