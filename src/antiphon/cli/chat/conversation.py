"""An interactive conversation."""

import argparse
import asyncio
import shlex

from antiphon.cli.chat.draft import DraftFooter
from antiphon.cli.chat.greeting import greet
from antiphon.cli.chat.model import choose_chat_model
from antiphon.cli.chat.session import chat_view, is_plain, listed_id, open_chat, use_editing_mode
from antiphon.cli.chat.slash_commands import COMMANDS, run_slash_command
from antiphon.cli.chat.suggestions import ChatSuggestions
from antiphon.cli.chat.terminal import NOT_STOPPED, Terminal
from antiphon.cli.default_model import ModelChoice, describe
from antiphon.cli.frame import DONE
from antiphon.cli.input.opening import open_lines
from antiphon.cli.input.signals import Signals
from antiphon.cli.input.waiting import WaitAbandoned


def hold_conversation(options: argparse.Namespace) -> int:
    """Read and answer messages until the user quits."""
    return asyncio.run(_hold(options, choose_chat_model(options)))


async def _hold(options: argparse.Namespace, choice: ModelChoice) -> int:
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
                await greet(terminal, choice if uses_choice else describe(client.config["model"]))
            except WaitAbandoned:
                terminal.view.line(NOT_STOPPED, "error")
            await terminal.run(run_slash_command)
            await _print_next(terminal, options)
        return DONE


async def _print_next(terminal: Terminal, options: argparse.Namespace) -> None:
    """Print the command that continues the chat, unless nothing was said or stored."""
    client = terminal.client
    if client.thread is None or options.no_store:
        return
    id = await listed_id(client)
    places = {"--store": options.store, "--server": options.server}
    more = "".join(f" {flag} {shlex.quote(str(value))}" for flag, value in places.items() if value is not None)
    terminal.view.line(f"continue it with: antiphon chat --thread {id}{more}")
