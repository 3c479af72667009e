"""What `antiphon threads` does with chats only: their branches shown, their archives imported."""

import argparse
import asyncio
import sys

from antiphon.app import App
from antiphon.chat.archive import MOST_BYTES, BadArchive, from_archive
from antiphon.chat.export import branch_document
from antiphon.cli.exports import export_text
from antiphon.cli.frame import Misuse, say
from antiphon.cli.options import store_file
from antiphon.threads.export.markdown import to_markdown
from antiphon.threads.kinds import Record
from antiphon.threads.library import Library


def branch_text(library: Library, record: Record, options: argparse.Namespace) -> str:
    """A branch of a chat; any other thread as a whole."""
    if record.view.kind != "chat":
        if options.branch is not None:
            raise Misuse(f"{record.view.id} is a {record.view.kind}, which has no branches; leave out --branch")
        return export_text(library, record, "md")
    branch = options.branch or record.content["branch"]
    names = [*record.content["branches"], *record.content["closed"]]
    if branch not in names and (options.branch or names):
        raise Misuse(f"there is no branch {branch!r}; known: {', '.join(names) or 'none'}")
    return to_markdown(branch_document(record, branch if names else None))


def import_chat(options: argparse.Namespace) -> int:
    """Add a chat that was exported as JSON."""
    try:
        settings = from_archive(_text(options.file))
    except BadArchive as error:
        raise BadArchive(f"{options.file}: {error}; nothing was imported") from error

    async def run() -> str:
        async with App(store_file(options)) as app:
            return await app.chats.create(**settings)

    return say([asyncio.run(run())])


def _text(name: str) -> str:
    try:
        if name == "-":
            return sys.stdin.read(MOST_BYTES)
        with open(name, encoding="utf-8") as file:
            return file.read(MOST_BYTES)
    except OSError as error:
        raise Misuse(f"{name}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadArchive("is not UTF-8") from error
