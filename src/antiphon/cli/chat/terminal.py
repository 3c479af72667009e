"""The read loop of a conversation: messages, slash commands, permissions and Ctrl-C, on the main thread."""

import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from antiphon.background_loop import BackgroundLoop
from antiphon.cli.chat.client import ChatClient
from antiphon.cli.chat.limits import LimitDecision, ask_limit, reached_line, unattended_line
from antiphon.cli.chat.reply_stats import ReplyStats
from antiphon.cli.frame import PROBLEMS, error_text
from antiphon.cli.interruptible import InterruptibleWait, Quit
from antiphon.cli.permission_prompt import Answerer, LineInput, PermissionDecision, TerminalAnswerer

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
        self._has_user = answerer is None
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
        """Print a reply to its end, asking for permissions and at limits on the way."""
        stats = self.wait(work)
        while stats.is_asking:
            try:
                decision = self._decide(stats)
            except (EOFError, KeyboardInterrupt):
                self.wait(self.client.stop())
                self.view.line("permission denied; reply stopped" if stats.request else "reply stopped at its limit")
                stats.request = None
                stats.limit = None
                return stats
            stats = self.wait(self.client.answer(stats, decision))
        if stats.replies or stats.tokens_in:
            self.view.line(stats.line())
        return stats

    def _decide(self, stats: ReplyStats) -> PermissionDecision | LimitDecision:
        if stats.request is not None:
            return self._answerer.permit(stats.request["calls"], MODEL)
        assert stats.limit is not None
        if not self._has_user:
            self.view.line(unattended_line(stats.limit), "error")
            return LimitDecision("deny")
        self.view.line(reached_line(stats.limit), "title")
        return ask_limit(self.lines, stats.limit)
