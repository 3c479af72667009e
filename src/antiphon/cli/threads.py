"""The command `antiphon threads`: threads listed, read, searched, exported, imported, put away and deleted."""

import argparse
import asyncio
import sys
from dataclasses import asdict

from antiphon.app import App, open_library
from antiphon.cli.chats import branch_text, import_chat
from antiphon.cli.frame import DONE, FAILED, Command, say
from antiphon.cli.lookup import ID_HELP, find_thread
from antiphon.cli.options import Subcommands, existing_store, run_subcommand
from antiphon.cli.records import add_export, add_list, add_show, reads, say_list
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import clip, harmless
from antiphon.cli.render.units import moment, plural
from antiphon.money import format_usd
from antiphon.stores.maintenance import remove
from antiphon.threads import Library, ThreadView

MOST_TITLE = 44
MOST_LINE = 100
NONE_YET = "no conversations yet: antiphon chat begins one"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser)
    listing = add_list(commands, "conversations", _list)
    which = listing.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="archived ones too")
    which.add_argument("--archived", action="store_true", help="only archived ones")
    showing = add_show(commands, None, "conversation", branch_text)
    showing.add_argument("--branch", metavar="B", help="another branch than the current one")
    search = commands.add("search", reads(_search), "find conversations in which something was said")
    search.add_argument("words", metavar="WORDS", nargs="+")
    add_export(commands, None, "conversation")
    importing = commands.add("import", import_chat, "add a conversation that was exported as JSON")
    importing.add_argument("file", metavar="FILE", help="an export, or - for the standard input")
    for name, about in (("archive", "put a conversation away"), ("unarchive", "take a conversation out again")):
        archiving = commands.add(name, _archive, about)
        archiving.add_argument("id", metavar="ID", help=f"a conversation; {ID_HELP}")
        archiving.set_defaults(archived=name == "archive")
    deleting = commands.add("delete", _delete, "delete a conversation with all its branches")
    deleting.add_argument("id", metavar="ID", help=f"a conversation; {ID_HELP}")
    deleting.add_argument("--yes", action="store_true", help="do not ask")


async def _list(library: Library, options: argparse.Namespace) -> int:
    archived = None if options.all else options.archived
    views = await library.latest(options.limit, archived=archived)
    return say_list([_row(view) for view in views], [asdict(view) for view in views], NONE_YET, as_json=options.json)


async def _search(library: Library, options: argparse.Namespace) -> int:
    matches = await library.search(" ".join(options.words))
    lines = [line for view, match in matches for line in (_row(view), f"          {clip(harmless(match), MOST_LINE)}")]
    say(lines or ["nothing was found"])
    return DONE if matches else FAILED


def _archive(options: argparse.Namespace) -> int:
    async def run() -> str:
        async with App(existing_store(options)) as app:
            thread = await find_thread(app.library, options.id, archived=not options.archived)
            await app.threads.archive(thread, options.archived)
            return thread

    return say([f"{asyncio.run(run())} is {'archived' if options.archived else 'taken out again'}"])


def _delete(options: argparse.Namespace) -> int:
    store = existing_store(options)

    async def find() -> ThreadView:
        async with open_library(store) as library:
            return (await library.read(await find_thread(library, options.id))).view

    view = asyncio.run(find())
    if not options.yes:
        write(sys.stderr, f"{_row(view)}\nto keep a copy: antiphon threads export {view.id} --to {view.id}.json\n")
        write(sys.stderr, "delete it with all its branches, for ever? y/n > ")
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return say(["nothing was deleted"])
    remove(store, view.id)
    return say([f"{view.id} is deleted"])


def _row(view: ThreadView) -> str:
    facts = [view.status, plural(view.turns, "turn"), format_usd(view.cost_usd)]
    facts += ["archived"] if view.archived else []
    title = clip(harmless(view.title), MOST_TITLE)
    return f"{view.id}  {moment(view.updated)}  {title} ({', '.join(facts)}; {harmless(view.model or 'no model')})"


COMMAND = Command(
    "Look after conversations.", add_options, run_subcommand, interrupted="interrupted; nothing was changed"
)
