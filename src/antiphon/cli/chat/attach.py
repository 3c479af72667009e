"""A chat that another terminal or a page has started: its reply is watched, then the conversation goes on here."""

import argparse
import asyncio
import sys

from antiphon.cli.chat.client import ChatClient
from antiphon.cli.chat.composition import ChatRequest
from antiphon.cli.chat.session import chat_view
from antiphon.cli.frame import DONE, FAILED, INTERRUPTED
from antiphon.cli.input.signals import Signals
from antiphon.cli.input.watching import KEYS, Left, Watching
from antiphon.cli.main import dispatch
from antiphon.cli.render.json_output import JsonOutput
from antiphon.cli.render.plain import write
from antiphon.cli.windows.attaching import open_attached

ANSWERED_ELSEWHERE = "it waits for an answer, and there is no user here; answer it in another terminal"
EXIT_CODES = {"completed": DONE, "stopped": INTERRUPTED}


def attach(options: argparse.Namespace, id: str) -> int:
    """Watch the reply of a chat; a user at a terminal continues the conversation after it."""
    has_user = sys.stdin.isatty() and sys.stdout.isatty() and not options.json
    code = asyncio.run(_watch(options, id, has_user=has_user))
    return dispatch("chat", ["chat", "--thread", id, *_flags(options)]) if code is None else code


async def _watch(options: argparse.Namespace, id: str, *, has_user: bool) -> int | None:
    """Print the reply to its end; return the exit code, or None if the conversation is to be continued."""
    options.thinking = False
    options.request = ChatRequest(None)
    view = chat_view(options, is_question=not has_user)
    output = JsonOutput(sys.stdout) if options.json else None
    async with open_attached(options) as window:
        client = ChatClient(window, view, {}, output.activity if output else None)
        client.thread = id
        if has_user:
            view.line(KEYS)
        with Signals() as signals:
            watching = Watching(signals, client.stop)
            try:
                stats = await watching.wait(client.watch_reply())
                while stats.status == "waiting" and not has_user:
                    view.line(ANSWERED_ELSEWHERE)
                    await watching.wait(client.wait_for_status())
                    stats = await watching.wait(client.watch_reply())
            except Left:
                view.end()
                write(sys.stderr, f"left; it continues; watch it again with: antiphon attach {id}\n")
                return DONE
        code = EXIT_CODES.get(stats.status or "", FAILED)
        if output is not None:
            output.end({"thread": id, "status": stats.status, "text": "".join(stats.text), "exit": code})
        return None if has_user else code


def _flags(options: argparse.Namespace) -> list[str]:
    """Return the options of this command that the chat takes, too."""
    values = {"--store": options.store, "--server": options.server, "--token-file": options.token_file}
    flags = [word for name, value in values.items() if value is not None for word in (name, str(value))]
    return [*flags, *(["--plain"] if options.plain else [])]
