"""Slash commands about a chat as a whole: its cost, its permissions, and its export."""

from collections.abc import Sequence
from pathlib import Path

from antiphon.cli.chat.reply_stats import metrics_line
from antiphon.cli.chat.terminal import Terminal
from antiphon.cli.chat.tree_commands import read_chat
from antiphon.cli.exports import write_export
from antiphon.cli.records import NONE, choose_permissions, permission_lines, revocation_line
from antiphon.threads.consent import StandingPermission
from antiphon.threads.errors import Refused

Words = Sequence[str]


async def show_cost(terminal: Terminal, words: Words) -> None:
    """Print tokens, cost and time so far."""
    terminal.view.line(metrics_line((await read_chat(terminal))["metrics"]))


async def list_permissions(terminal: Terminal, words: Words) -> None:
    """Print what is allowed without a question."""
    permissions = await _standing(terminal)
    for line in permission_lines(permissions) or [NONE]:
        terminal.view.line(line)
    if permissions:
        terminal.view.line(f"take one back with: /revoke {permissions[0].id}")


async def revoke(terminal: Terminal, words: Words) -> None:
    """Take back a permission, or all."""
    word = required(words, "/revoke PERMISSION, or all; /permissions lists them")
    for permission in choose_permissions(await _standing(terminal), word):
        await terminal.wait(terminal.client.app.threads.revoke(terminal.client.open_thread(), permission.id))
        terminal.view.line(revocation_line(permission))


async def _standing(terminal: Terminal) -> Sequence[StandingPermission]:
    thread = terminal.client.thread
    return () if thread is None else await terminal.wait(terminal.client.app.threads.permissions(thread))


async def export(terminal: Terminal, words: Words) -> None:
    """Export the conversation to a new file."""
    target = Path(required(words, "/export FILE (.md, .html or .json)"))
    write_export(await terminal.wait(terminal.client.read()), target)
    terminal.view.line(f"exported to {target}")


def required(words: Words, usage: str) -> str:
    """Return the first word after a command; raise `Refused` with the usage if there is none."""
    if not words:
        raise Refused(f"usage: {usage}")
    return words[0]
