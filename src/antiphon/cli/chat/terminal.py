"""The read loop of a conversation: messages, slash commands, permissions and Ctrl-C, on the main thread."""

import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from antiphon.background_loop import BackgroundLoop
from antiphon.cli.chat.client import ChatClient
from antiphon.cli.chat.reply_stats import ReplyStats
from antiphon.cli.frame import PROBLEMS, error_text
from antiphon.cli.interruptible import InterruptibleWait, Quit
from antiphon.cli.permission_prompt import Answerer, LineInput, TerminalAnswerer

T = TypeVar("T")
MODEL = "the model"


class Terminal:
    """Reads messages and slash commands until the user quits."""

    def __init__(
        self,
        background: BackgroundLoop,
        client: ChatClient,
        lines: LineInput,
        now: Callable[[], float] = time.monotonic,
        answerer: Answerer | None = None,
    ) -> None:
        self.client = client
        self.lines = lines
        self.view = client.view
        self.branch = "main"
        self._interruptible = InterruptibleWait(background, client.stop, now=now)
        self._answerer = answerer or TerminalAnswerer(lines, self.view)

    def run(self, command: Callable[["Terminal", str], None]) -> None:
        """Read messages and commands until the user quits."""
        while True:
            try:
                text = self.lines.message("> " if self.branch == "main" else f"{self.branch}> ").strip()
            except (EOFError, KeyboardInterrupt):
                self.view.line("")
                return
            try:
                if text.startswith("/"):
                    command(self, text)
                elif text:
                    self.converse(self.client.say(text))
            except Quit:
                return
            except PROBLEMS as problem:
                self.view.line(error_text(problem), "error")

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for work; Ctrl-C stops the reply, and a second press soon after quits."""
        return self._interruptible.wait(work)

    def converse(self, work: Coroutine[Any, Any, ReplyStats]) -> ReplyStats:
        """Print a reply to its end, asking for permissions on the way."""
        stats = self.wait(work)
        while stats.status == "waiting" and stats.request is not None:
            try:
                decision = self._answerer.permit(stats.request["calls"], MODEL)
            except (EOFError, KeyboardInterrupt):
                self.wait(self.client.stop())
                self.view.line("permission denied; reply stopped")
                stats.request = None
                return stats
            stats = self.wait(self.client.answer(stats, decision))
        if stats.replies or stats.tokens_in:
            self.view.line(stats.line())
        return stats
