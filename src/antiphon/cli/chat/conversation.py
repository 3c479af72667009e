"""An interactive conversation."""

import argparse
import asyncio
import shlex
from collections.abc import Mapping
from typing import Any

from antiphon.chat.record import branch_path
from antiphon.cli.chat.draft import DraftFooter
from antiphon.cli.chat.session import chat_view, is_plain, listed_id, open_chat, use_editing_mode
from antiphon.cli.chat.slash_commands import COMMANDS, run_slash_command
from antiphon.cli.chat.suggestions import ChatSuggestions
from antiphon.cli.chat.terminal import NOT_STOPPED, Terminal
from antiphon.cli.default_model import ModelChoice, choose_model, describe
from antiphon.cli.frame import DONE
from antiphon.cli.input.opening import open_lines
from antiphon.cli.input.signals import Signals
from antiphon.cli.input.waiting import WaitAbandoned
from antiphon.cli.render.units import plural

LOST = "the last reply was lost when its process ended; /resume continues it, or type a message"
LIMIT = "limit"  # a reason why a thread waits
PROVIDER_ERROR = "provider_error"
EXPIRED = "the last reply waited for permission when its process ended; /resume asks again, or type a message"


def hold_conversation(options: argparse.Namespace) -> int:
    """Read and answer messages until the user quits."""
    return asyncio.run(_hold(options))


async def _hold(options: argparse.Namespace) -> int:
    choice = choose_model(options.model)
    draft = DraftFooter()
    opened = open_chat(options, choice, chat_view(options, is_question=False, footer=draft), stays=True)
    async with opened as client:
        suggest = ChatSuggestions(client, COMMANDS).suggest
        with (
            Signals() as signals,
            open_lines(signals, is_plain=is_plain(options), has_history=not options.no_store, suggest=suggest) as lines,
        ):
            draft.lines = lines
            use_editing_mode(lines)
            terminal = Terminal(client, lines, signals)
            uses_choice = options.model or client.thread is None
            try:
                await _greet(terminal, choice if uses_choice else describe(client.config["model"]))
            except WaitAbandoned:
                terminal.view.line(NOT_STOPPED, "error")
            await terminal.run(run_slash_command)
            await _tell_next(terminal, options)
        return DONE


async def _tell_next(terminal: Terminal, options: argparse.Namespace) -> None:
    """Print the command that continues the chat, unless nothing was said or stored."""
    client = terminal.client
    if client.thread is None or options.no_store:
        return
    id = await listed_id(client)
    places = {"--store": options.store, "--server": options.server}
    more = "".join(f" {flag} {shlex.quote(str(value))}" for flag, value in places.items() if value is not None)
    terminal.view.line(f"continue it with: antiphon chat --thread {id}{more}")


async def _greet(terminal: Terminal, choice: ModelChoice) -> None:
    view = terminal.view
    client = terminal.client
    view.line(choice.summary, "title")
    if choice.hint:
        view.line(choice.hint)
    view.line("/help lists the commands; Ctrl-C stops a reply, Ctrl-D quits")
    if client.thread is None:
        return
    await terminal.wait(client.follow_running())
    record = await terminal.wait(client.read())
    terminal.branch = record.content["branch"]
    id = await terminal.wait(listed_id(client))
    view.line(f"continuing “{record.view.title}” ({plural(record.view.turns, 'turn')}, {id})")
    for message in branch_path(record.content)[-2:]:
        for part in message["parts"]:
            if part["type"] == "text":
                view.markdown(f"> {part['text']}" if message["role"] == "user" else part["text"])
    await _report_plan(terminal, record.content)
    reply = await terminal.wait(client.waiting_reply())
    if reply.is_asking and (record.view.waiting == LIMIT or client.is_remote):
        await terminal.converse(client.waiting_reply())
    elif record.view.waiting == PROVIDER_ERROR:
        for request in await terminal.wait(client.app.threads.requests(client.open_thread())):
            view.line(f"{request.text}; then /retry continues it", "error")
    elif record.view.status in ("interrupted", "waiting"):
        view.line(LOST if record.view.status == "interrupted" else EXPIRED, "error")


async def _report_plan(terminal: Terminal, chat: Mapping[str, Any]) -> None:
    """Report a merge that an earlier process has planned, and drop a fork that it has not confirmed."""
    if chat.get("fork"):
        await terminal.wait(terminal.client.perform("cancel_fork"))
    if chat.get("merge"):
        terminal.view.line(f"a merge of {chat['merge']['source']} is planned; /merge continues it", "error")
