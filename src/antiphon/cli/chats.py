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
from antiphon.cli.render.plain import PlainView
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.windows.releasing import free_store
from antiphon.threads.export.markdown import to_markdown
from antiphon.threads.foreign_models import needs_naming
from antiphon.threads.kinds import Record

NO_CONSENT = "permissions are not imported: the conversation asks again before tools act"


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

    thread = asyncio.run(run())
    notes = PlainView(sys.stderr)
    notes.line(NO_CONSENT)
    model = settings.get("model")
    if model is not None and needs_naming(model):
        hint = f"antiphon chat --thread {thread} --model {sanitize_line(model)}"
        notes.line(f"its model is one by address or file; if you trust it, continue with: {hint}")
    return print_lines([thread])


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
