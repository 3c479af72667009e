"""The command `antiphon threads`: list, show, search, export, import, archive and delete threads."""

import argparse
import asyncio

from antiphon.cli.chats import import_chat
from antiphon.cli.db.roots import confirm, delete_tree
from antiphon.cli.frame import DONE, FAILED, CliCommand, print_lines
from antiphon.cli.lookup import find_thread, settle, status_text, with_short_ids
from antiphon.cli.options import ID_HELP, Subcommands, add_server, run_subcommand
from antiphon.cli.records import (
    add_after,
    add_export,
    add_list,
    add_permissions,
    add_show,
    cost_text,
    list_hint,
    print_list,
    print_page,
    to_record,
    with_library,
)
from antiphon.cli.render.text_width import clip, sanitize_line
from antiphon.cli.render.units import format_time, plural
from antiphon.cli.undo import add_undo
from antiphon.cli.windows.access import named_store, open_records, open_server, open_threads
from antiphon.cli.windows.types import AnyLibrary
from antiphon.threads import KINDS, ThreadView

MOST_TITLE = 44
MOST_LINE = 100
PAGE = 20
EMPTY = "no conversations yet; start one with: antiphon chat"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser)
    listing = add_list(commands, "conversations", _list)
    group = listing.add_mutually_exclusive_group()
    group.add_argument("--all", action="store_true", help="include archived conversations")
    group.add_argument("--archived", action="store_true", help="only archived conversations")
    listing.add_argument("--kind", choices=KINDS, help="only conversations of this kind")
    listing.add_argument("--status", metavar="STATUS", help="only conversations of this status, such as waiting")
    listing.add_argument("--owner", metavar="OWNER", help="only conversations of this owner")
    add_show(commands, None, "conversation")
    search = commands.add("search", with_library(_search), "search the texts of conversations")
    search.add_argument("words", metavar="WORDS", nargs="+")
    add_server(search)
    add_after(search)
    add_export(commands, None, "conversation")
    importing = commands.add("import", import_chat, "import a conversation that was exported as JSON")
    importing.add_argument("file", metavar="FILE", help="an export, or - for standard input")
    for name, about in (("archive", "archive a conversation"), ("unarchive", "restore an archived conversation")):
        archiving = commands.add(name, _archive, about)
        archiving.add_argument("id", metavar="ID", help=f"the conversation: {ID_HELP}")
        archiving.set_defaults(archived=name == "archive")
        add_server(archiving)
    add_permissions(commands, None, "conversation")
    add_undo(commands, None, "conversation")
    deleting = commands.add("delete", _delete, "delete a conversation with all its branches")
    deleting.add_argument("id", metavar="ID", help=f"the conversation: {ID_HELP}")
    deleting.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    add_server(deleting)


async def _list(library: AnyLibrary, options: argparse.Namespace) -> int:
    archived = None if options.all else options.archived
    views = await library.latest(
        options.limit,
        archived=archived,
        kind=options.kind,
        status=options.status,
        owner=options.owner,
        after=options.after,
    )
    is_filtered = any(value is not None for value in (options.kind, options.status, options.owner))
    empty = "no such conversations" if is_filtered else EMPTY
    views = settle(views, library)
    rows = [_row(view) + list_hint(view, library) for view in await with_short_ids(library, views)]
    return print_list(rows, [to_record(view, library) for view in views], options, empty)


async def _search(library: AnyLibrary, options: argparse.Namespace) -> int:
    matches = await library.search(" ".join(options.words), PAGE, after=options.after)
    views = await with_short_ids(library, settle([match.view for match in matches], library))
    lines = [
        line
        for match, view in zip(matches, views, strict=True)
        for line in (
            _row(view) + list_hint(view, library),
            f"          {clip(sanitize_line(match.line), MOST_LINE)}",
        )
    ]
    print_page(lines or ["no matches"], PAGE, [match.cursor for match in matches])
    return DONE if matches else FAILED


def _archive(options: argparse.Namespace) -> int:
    async def run() -> str:
        store = named_store(options)
        async with open_threads(options, store) as window:
            thread = await find_thread(window.library, options.id, archived=not options.archived)
            await window.threads.archive(thread, options.archived)
            return thread

    return print_lines([f"{'archived' if options.archived else 'unarchived'} {asyncio.run(run())}"])


def _delete(options: argparse.Namespace) -> int:
    view = asyncio.run(_find(options))
    facts = f"{_row(view)}\nkeep a copy with: antiphon threads export {view.id} --to {view.id}.json"
    if not options.yes and not confirm(facts, "delete it permanently, with all branches and its copies for undo?"):
        return print_lines(["nothing deleted"])
    asyncio.run(_delete_thread(options, view.id))
    return print_lines([f"deleted {view.id}"])


async def _find(options: argparse.Namespace) -> ThreadView:
    async with open_records(options) as library:
        return (await library.read(await find_thread(library, options.id))).view


async def _delete_thread(options: argparse.Namespace, id: str) -> None:
    """Delete a thread by the server that has it, or in the store."""
    async with open_server(options) as client:
        if client is None:
            delete_tree(named_store(options), id)
        else:
            await client.threads.delete(id)


def _row(view: ThreadView) -> str:
    facts = [
        view.kind or "chat",
        status_text(view),
        plural(view.turns, "turn"),
        cost_text(view.cost_usd, view.unpriced),
    ]
    facts += ["archived"] if view.archived else []
    title = clip(sanitize_line(view.title), MOST_TITLE)
    model = sanitize_line(view.model or "no model")
    return f"{view.id}  {format_time(view.updated)}  {title} ({', '.join(facts)}; {model})"


COMMAND = CliCommand(
    "List, show, search, export, import, archive and delete conversations.",
    add_options,
    run_subcommand,
    default="list",
    interrupted="interrupted; nothing changed",
)
