"""The import of chats, a part of `antiphon threads`."""

import argparse
import asyncio
import sys

from antiphon.app import App
from antiphon.chat.archive import MOST_BYTES, BadArchive, from_archive
from antiphon.cli.frame import UsageError, print_lines
from antiphon.cli.options import store_file
from antiphon.cli.render.plain import PlainView
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.windows.releasing import free_store
from antiphon.threads.foreign_models import needs_naming

NO_CONSENT = "permissions are not imported: the conversation asks again before tools act"


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
