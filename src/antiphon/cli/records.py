"""The subcommands `list`, `show`, `export` and `permissions`, shared by `threads`, `runs` and `debates`.

The first three read the store, so they work while another process runs its threads.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from antiphon.cli.exports import branch_text, export_text, write_export
from antiphon.cli.frame import DONE, UsageError, print_lines, print_rows
from antiphon.cli.lookup import ListedThread, find_thread, next_command
from antiphon.cli.options import ID_HELP, Subcommands, add_server, positive_int
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import sanitize_line, sanitize_lines
from antiphon.cli.windows.access import named_store, open_records, open_threads
from antiphon.cli.windows.types import AnyLibrary
from antiphon.money import format_usd
from antiphon.threads.consent import StandingPermission
from antiphon.threads.errors import InvalidCursor, Refused
from antiphon.threads.export.formats import FORMATS

ALL = "all"
NONE = "nothing is allowed beyond single calls"
LibraryHandler = Callable[[AnyLibrary, argparse.Namespace], Awaitable[int]]


def with_library(handler: LibraryHandler) -> Callable[[argparse.Namespace], int]:
    """Return a handler that opens the library of an existing store, or of a server."""

    async def run(options: argparse.Namespace) -> int:
        async with open_records(options) as library:
            try:
                return await handler(library, options)
            except InvalidCursor as error:
                raise UsageError(str(error)) from error

    return lambda options: asyncio.run(run(options))


def add_list(commands: Subcommands, plural: str, handler: LibraryHandler) -> argparse.ArgumentParser:
    """Add `list`."""
    parser = commands.add("list", with_library(handler), f"list the latest {plural}", json=True)
    parser.add_argument("--limit", type=positive_int, default=20, metavar="N", help="maximum number (default: 20)")
    add_server(parser)
    add_after(parser)
    return parser


def add_after(parser: argparse.ArgumentParser) -> None:
    """Add `--after`."""
    parser.add_argument("--after", metavar="CURSOR", help="the next page: the cursor that the page before ends with")


def add_show(commands: Subcommands, kind: str | None, noun: str) -> argparse.ArgumentParser:
    """Add `show`: a thread of one kind as a whole; of any kind, also one branch or the tree of a chat."""

    async def show(library: AnyLibrary, options: argparse.Namespace) -> int:
        record = await library.read(await find_thread(library, options.id, kind))
        if options.json or kind is not None:
            return print_lines([export_text(record, "json" if options.json else "md").rstrip()])
        return print_lines([branch_text(record, options).rstrip()])

    parser = add_thread_command(commands, "show", show, f"print a {noun}", noun, json=True)
    if kind is None:
        part = parser.add_mutually_exclusive_group()
        part.add_argument("--branch", metavar="B", help="a branch other than the current one")
        part.add_argument("--tree", action="store_true", help="draw its branches, checkpoints and merges")
    return parser


def add_export(commands: Subcommands, kind: str | None, noun: str) -> argparse.ArgumentParser:
    """Add `export`."""

    async def export(library: AnyLibrary, options: argparse.Namespace) -> int:
        record = await library.read(await find_thread(library, options.id, kind))
        if options.to is None:
            text = export_text(record, options.format or "md")
            # A reply may contain escape sequences, which a terminal would obey.
            write(sys.stdout, sanitize_lines(text) if sys.stdout.isatty() else text)
            return DONE
        write_export(record, options.to, options.format)
        return print_lines([f"exported to {options.to}"])

    about = f"export a {noun} as Markdown, self-contained HTML or JSON"
    parser = add_thread_command(commands, "export", export, about, noun)
    parser.add_argument("--to", type=Path, metavar="FILE", help="a new file (default: standard output)")
    parser.add_argument("--format", choices=list(FORMATS), help="default: the suffix of FILE, else md")
    return parser


def add_thread_command(
    commands: Subcommands, name: str, handler: LibraryHandler, about: str, noun: str, *, json: bool = False
) -> argparse.ArgumentParser:
    """Add a subcommand for one thread."""
    parser = commands.add(name, with_library(handler), about, json=json)
    parser.add_argument("id", metavar="ID", help=f"the {noun}: {ID_HELP}")
    add_server(parser)
    return parser


def cost_text(cost_usd: float | str, unpriced: int) -> str:
    """Return the cost of a thread for a list, and that it lacks replies of unknown price."""
    if not unpriced:
        return format_usd(cost_usd)
    return f"{format_usd(cost_usd)} and unknown prices" if float(cost_usd) else "price unknown"


def list_hint(view: ListedThread, library: AnyLibrary) -> str:
    """Return the end of a line in a list: the next command, or the reason why a thread cannot be continued here."""
    command = next_command(view, is_unowned=library.is_unowned)
    return (f"; next: {command}" if command else "") + (f"; {sanitize_line(view.problem)}" if view.problem else "")


def print_json(value: Any) -> int:
    """Print a value as JSON."""
    return print_lines([json.dumps(value, indent=2)])


def print_list(rows: list[str], records: list[dict[str, Any]], options: argparse.Namespace, empty: str) -> int:
    """Print a page of a list as lines or as JSON; `empty` if the list has no rows."""
    if options.json:
        return print_json(records)
    if not rows:
        return print_lines([empty if options.after is None else "no more"])
    return print_page(rows, options.limit, [record["cursor"] for record in records])


def print_page(lines: list[str], limit: int, cursors: list[str]) -> int:
    """Print the lines of a page; if it is full, print the option for the next one to standard error."""
    code = print_rows(lines)
    if len(cursors) == limit:
        write(sys.stderr, f"next page: --after {cursors[-1]}\n")
    return code


def to_record(view: ListedThread, library: AnyLibrary) -> dict[str, Any]:
    """Return a thread of a list as JSON, with the command that continues it."""
    return {**asdict(cast(Any, view)), "cursor": view.cursor, "next": next_command(view, is_unowned=library.is_unowned)}


def add_permissions(commands: Subcommands, kind: str | None, noun: str) -> None:
    """Add the subcommand that lists the permissions of a thread, and takes them back."""
    adding = commands.add("permissions", _permissions, f"list what a {noun} may do without a question; take it back")
    adding.add_argument("id", metavar="ID", help=f"the {noun}: {ID_HELP}")
    adding.add_argument("--revoke", metavar="PERMISSION", help=f"take back one of them, by its id, or {ALL}")
    adding.set_defaults(kind=kind)
    add_server(adding)


def _permissions(options: argparse.Namespace) -> int:
    async def run() -> list[str]:
        async with open_threads(options, named_store(options)) as window:
            thread = await find_thread(window.library, options.id, options.kind)
            permissions = await window.threads.permissions(thread)
            if options.revoke is None:
                return permission_lines(permissions) or [NONE]
            chosen = choose_permissions(permissions, options.revoke)
            for permission in chosen:
                await window.threads.revoke(thread, permission.id)
            return [revocation_line(permission) for permission in chosen]

    return print_lines(asyncio.run(run()))


def permission_lines(permissions: Iterable[StandingPermission]) -> list[str]:
    """Return a line for each permission: its id, and what is allowed."""
    return [f"{permission.id}  {sanitize_line(permission.text)}" for permission in permissions]


def revocation_line(permission: StandingPermission) -> str:
    """Return the line about a permission that was taken back."""
    return f"no longer allowed without a question: {sanitize_line(permission.text)}"


def choose_permissions(permissions: Sequence[StandingPermission], word: str) -> Sequence[StandingPermission]:
    """Return the permission whose id begins with a word, or `all` of them; raise `Refused` if there is no such one."""
    if not permissions:
        raise Refused(f"{NONE}; there is no permission to take back")
    chosen = permissions if word == ALL else [item for item in permissions if word and item.id.startswith(word)]
    if word != ALL and len(chosen) != 1:
        known = ", ".join(permission.id for permission in permissions)
        raise Refused(f"{word!r} is no permission, or begins several; known: {known}, {ALL}")
    return chosen
