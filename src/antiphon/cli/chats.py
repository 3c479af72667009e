"""The parts of `antiphon threads` for chats only: showing branches and importing archives."""

import argparse
import asyncio
import sys

from antiphon.app import App
from antiphon.chat.archive import MOST_BYTES, BadArchive, from_archive
from antiphon.chat.export import branch_document
from antiphon.cli.exports import export_text
from antiphon.cli.frame import UsageError, print_lines
from antiphon.cli.options import store_file
from antiphon.cli.windows import free_store
from antiphon.threads.export.markdown import to_markdown
from antiphon.threads.kinds import Record


def branch_text(record: Record, options: argparse.Namespace) -> str:
    """Render a branch of a chat, or another thread as a whole."""
    if record.view.kind != "chat" or record.is_transcript:
        if options.branch is not None:
            noun = "transcript" if record.is_transcript else record.view.kind
            raise UsageError(f"{record.view.id} is a {noun}, which has no branches; remove --branch")
        return export_text(record, "md")
    branch = options.branch or record.content["branch"]
    names = [*record.content["branches"], *record.content["closed"]]
    if branch not in names and (options.branch or names):
        raise UsageError(f"unknown branch {branch!r}; branches: {', '.join(names) or 'none'}")
    return to_markdown(branch_document(record, branch if names else None))


def import_chat(options: argparse.Namespace) -> int:
    """Import a chat that was exported as JSON."""
    try:
        settings = from_archive(_read(options.file))
    except BadArchive as error:
        raise BadArchive(f"{options.file}: {error}; nothing imported") from error

    store = free_store(store_file(options))

    async def run() -> str:
        async with App(store) as app:
            return await app.chats.restore(**settings)

    return print_lines([asyncio.run(run())])


def _read(name: str) -> str:
    try:
        if name == "-":
            return sys.stdin.read(MOST_BYTES)
        with open(name, encoding="utf-8") as file:
            return file.read(MOST_BYTES)
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadArchive("not UTF-8") from error
