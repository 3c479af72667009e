"""The read loop of a conversation: messages, slash commands, permissions and Ctrl-C."""

import re
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from antiphon.cli.argument_edits import tool_schema
from antiphon.cli.chat.client import ChatClient
from antiphon.cli.chat.limits import LimitDecision, ask_limit, reached_line, unattended_line
from antiphon.cli.chat.mentions import attach_mentions
from antiphon.cli.chat.reply_stats import ReplyStats
from antiphon.cli.frame import PROBLEMS, error_text
from antiphon.cli.input.lines import Interrupted, LineInput
from antiphon.cli.input.signals import Signals
from antiphon.cli.input.waiting import InterruptibleWait, WaitAbandoned
from antiphon.cli.permission_prompt import Answerer, PermissionDecision, TerminalAnswerer

T = TypeVar("T")
MODEL = "the model"
PATIENCE_S = 2.0  # how long a reply may take to stop before another Ctrl-C returns to the prompt
# A path such as /usr/bin, and a text of several lines, are messages.
COMMAND = re.compile(r"/[^/\s]*([^\S\n][^\n]*)?\Z")
HOW_TO_LEAVE = "to leave, press Ctrl-D or type /quit"
NOT_STOPPED = "not stopped yet; it stops in the background"


class Quit(Exception):
    """Raised when the user wants to leave."""


class Terminal:
    """Reads messages and slash commands until the user quits."""

    def __init__(
        self,
        client: ChatClient,
        lines: LineInput,
        signals: Signals,
        *,
        patience_s: float = PATIENCE_S,
        now: Callable[[], float] = time.monotonic,
        answerer: Answerer | None = None,
    ) -> None:
        self.client = client
        self.lines = lines
        self.view = client.view
        self.branch = "main"
        self._interruptible = InterruptibleWait(signals, lines, client.stop, patience_s=patience_s, now=now)
        self._has_user = answerer is None
        self._answerer = answerer or TerminalAnswerer(lines, self.view)

    async def run(self, command: Callable[["Terminal", str], Awaitable[None]]) -> None:
        """Read messages and commands until the user quits."""
        while True:
            try:
                text = (await self.lines.message("> " if self.branch == "main" else f"{self.branch}> ")).strip()
            except EOFError:
                return
            except Interrupted:
                self.view.line(HOW_TO_LEAVE)
                continue
            try:
                if COMMAND.match(text):
                    await command(self, text)
                elif text:
                    await self.say(text)
            except Quit:
                return
            except WaitAbandoned:
                self.view.line(NOT_STOPPED, "error")
            except PROBLEMS as problem:
                self.view.line(error_text(problem), "error")

    async def say(self, text: str) -> None:
        """Send a message with the files that it names, after a line that lists them, and print the reply."""
        message = attach_mentions(text)
        if message.names:
            self.view.line(f"attached: {', '.join(message.names)}")
        await self.converse(self.client.say(message.text, message.parts))

    async def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for work; Ctrl-C stops the reply."""
        return await self._interruptible.wait(work)

    async def converse(self, work: Coroutine[Any, Any, ReplyStats]) -> ReplyStats:
        """Print a reply to its end, asking for permissions and at limits on the way."""
        stats = await self.wait(work)
        while stats.is_asking:
            try:
                decision = await self._decide(stats)
            except (EOFError, Interrupted):
                await self.wait(self.client.stop())
                self.view.line("permission denied; reply stopped" if stats.request else "reply stopped at its limit")
                stats.request = None
                stats.limit = None
                return stats
            stats = await self.wait(self.client.answer(stats, decision))
        if stats.replies or stats.tokens_in:
            self.view.line(stats.line())
        return stats

    async def _decide(self, stats: ReplyStats) -> PermissionDecision | LimitDecision:
        if stats.request is not None:
            schema_of = partial(tool_schema, self.client.app.library, self.client.open_thread())
            is_open = partial(self.client.is_open, stats.request["requestId"])
            return await self._answerer.permit(stats.request["calls"], MODEL, schema_of, is_open)
        assert stats.limit is not None
        if not self._has_user:
            self.view.line(unattended_line(stats.limit), "error")
            return LimitDecision("deny")
        self.view.line(reached_line(stats.limit), "title")
        return await ask_limit(self.lines, stats.limit)
