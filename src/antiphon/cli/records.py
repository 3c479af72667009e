"""Threads listed, shown and exported, also while another process runs them: shared by `threads`, `runs`, `debates`."""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from antiphon.app import open_library
from antiphon.cli.exports import export_text, write_export
from antiphon.cli.frame import DONE, say
from antiphon.cli.lookup import ID_HELP, find_thread
from antiphon.cli.options import Subcommands, count, existing_store
from antiphon.cli.render.plain import write
from antiphon.threads.export.formats import FORMATS
from antiphon.threads.kinds import Record
from antiphon.threads.library import Library

Work = Callable[[Library, argparse.Namespace], Awaitable[int]]


def reads(work: Work) -> Callable[[argparse.Namespace], int]:
    """A handler that reads the threads of an existing store."""

    async def run(options: argparse.Namespace) -> int:
        async with open_library(existing_store(options)) as library:
            return await work(library, options)

    return lambda options: asyncio.run(run(options))


def add_list(commands: Subcommands, plural: str, work: Work) -> argparse.ArgumentParser:
    """Add `list`."""
    parser = commands.add("list", reads(work), f"list the latest {plural}", json=True)
    parser.add_argument("--limit", type=count, default=20, metavar="N", help="how many (default: 20)")
    return parser


def add_show(
    commands: Subcommands, kind: str | None, noun: str, text: Callable[[Library, Record, Any], str] | None = None
) -> argparse.ArgumentParser:
    """Add `show`; `text` makes another text of a record than its export."""

    async def show(library: Library, options: argparse.Namespace) -> int:
        record = await library.read(await find_thread(library, options.id, kind))
        if options.json or text is None:
            return say([export_text(library, record, "json" if options.json else "md").rstrip()])
        return say([text(library, record, options).rstrip()])

    return add_of_one(commands, "show", show, f"print a {noun}", noun, json=True)


def add_export(commands: Subcommands, kind: str | None, noun: str) -> argparse.ArgumentParser:
    """Add `export`."""

    async def export(library: Library, options: argparse.Namespace) -> int:
        record = await library.read(await find_thread(library, options.id, kind))
        if options.to is None:
            write(sys.stdout, export_text(library, record, options.format or "md"))
            return DONE
        write_export(library, record, options.to, options.format)
        return say([f"written to {options.to}"])

    about = f"write a {noun} as Markdown, as HTML that needs nothing else, or as JSON"
    parser = add_of_one(commands, "export", export, about, noun)
    parser.add_argument("--to", type=Path, metavar="FILE", help="a new file; by default the standard output")
    parser.add_argument("--format", choices=list(FORMATS), help="by default what FILE ends in, else md")
    return parser


def add_of_one(
    commands: Subcommands, name: str, work: Work, about: str, noun: str, *, json: bool = False
) -> argparse.ArgumentParser:
    """Add a subcommand that reads one thread."""
    parser = commands.add(name, reads(work), about, json=json)
    parser.add_argument("id", metavar="ID", help=f"a {noun}; {ID_HELP}")
    return parser


def say_list(rows: list[str], records: list[dict[str, Any]], none_yet: str, *, as_json: bool) -> int:
    """Print a list, for people or for programs."""
    return say([json.dumps(records, indent=2)] if as_json else rows or [none_yet])
