"""The command `antiphon resume`: a thread of any kind is continued in the screen of its kind.

Nothing that has ended is paid for again: a run or a debate that is over is shown.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence

from antiphon.cli.frame import CliCommand
from antiphon.cli.input.opening import can_edit, pick_row
from antiphon.cli.lookup import UNFINISHED, find_thread, latest_with, settle, short_ids, status_text
from antiphon.cli.main import dispatch
from antiphon.cli.options import ID_HELP, add_no_server, add_store
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import clip, sanitize_line, table_lines
from antiphon.cli.render.units import format_age
from antiphon.cli.windows.access import open_records
from antiphon.cli.windows.types import AnyLibrary
from antiphon.threads.errors import UnknownThread
from antiphon.threads.kinds import ThreadView

MOST_TITLE = 60
MOST_PICKED = 50
Candidate = tuple[ThreadView, str]  # with the short form of its id
PAUSED = "stopped"
# Statuses in which a run, or a debate, has nothing left to do.
ENDED = {"run": ("pending", "completed", "failed", "stopped"), "debate": ("completed",)}
NONE = "no conversations yet; start one with: antiphon chat"
EXAMPLES = """examples:
  antiphon resume           continue one that is not finished, else open the last
  antiphon resume last      continue or open the last, finished or not
  antiphon resume 3f2a      continue or open the one whose id starts with 3f2a
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    about = f"{ID_HELP} (default: one that is not finished, which you choose if there are several, else the last)"
    parser.add_argument("id", metavar="ID", nargs="?", help=about)
    add_store(parser)
    add_no_server(parser)
    parser.set_defaults(server=None)


def run(options: argparse.Namespace) -> int:
    """Continue a thread by the command of its kind, or show it if it has ended."""
    candidates = asyncio.run(_find(options))
    view, id = candidates[0] if len(candidates) == 1 or not can_edit() else _pick(candidates)
    words = _words(view)
    title = clip(sanitize_line(view.title), MOST_TITLE)
    command = " ".join(words).replace(view.id, id)
    write(sys.stderr, f"{view.kind or 'chat'} {id}: {title} ({status_text(view)}); antiphon {command}\n")
    store = [] if options.store is None else ["--store", str(options.store)]
    is_shown = words[1] == "show"
    return dispatch(words[0], [*words, *store, *(["--no-server"] if options.no_server and not is_shown else [])])


def _pick(candidates: Sequence[Candidate]) -> Candidate:
    """Let the user choose a thread; raise `KeyboardInterrupt` if the user leaves."""
    now = time.time_ns() // 1_000_000
    cells = [
        (id, view.kind or "chat", status_text(view), format_age(now - view.updated), sanitize_line(view.title))
        for view, id in candidates
    ]
    number = pick_row(table_lines(cells))
    if number is None:
        raise KeyboardInterrupt
    return candidates[number]


async def _find(options: argparse.Namespace) -> list[Candidate]:
    """Return the thread to continue; without an id those that are not finished, the most recently used first."""
    async with open_records(options) as library:
        if options.id is not None:
            views = [(await library.read(await find_thread(library, options.id))).view]
        else:
            views = await _unfinished(library) or await library.latest(1)
        if not views:
            raise UnknownThread(NONE)
        views = settle(views, library)
        ids = await short_ids(library, (view.id for view in views))
        return [(view, ids[view.id]) for view in views]


async def _unfinished(library: AnyLibrary) -> list[ThreadView]:
    """Return the latest threads that are not finished; a debate that was stopped is paused."""
    paused = await library.latest(MOST_PICKED, kind="debate", status=PAUSED)
    views = [*await latest_with(library, UNFINISHED, MOST_PICKED), *paused]
    return sorted(views, key=lambda view: view.updated, reverse=True)[:MOST_PICKED]


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
