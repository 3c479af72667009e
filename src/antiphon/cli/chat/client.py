"""One chat in the terminal: sent to, followed and shown, on the background loop."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from antiphon.app import App
from antiphon.cli.chat.printer import ReplyPrinter
from antiphon.cli.chat.reply_stats import ReplyStats
from antiphon.cli.default_model import settings_for
from antiphon.cli.permission_prompt import Decision
from antiphon.cli.render.plain import View
from antiphon.cli.render.refresh import refreshed
from antiphon.threads.activity import Activity
from antiphon.threads.errors import NothingSaid, Refused
from antiphon.threads.kinds import Json, Record

Listener = Callable[[Activity], None]


class ChatClient:
    """A chat, created when something is first said in it."""

    def __init__(self, app: App, view: View, config: Json, listener: Listener | None = None) -> None:
        self.app = app
        self.view = view
        self.config = dict(config)
        self.thread: str | None = None
        self._listener = listener

    async def say(self, text: str) -> ReplyStats:
        """Say something and show the answer."""
        if self.thread is None:
            self.thread = await self.app.chats.create(**{**settings_for(self.config["model"]), **self.config})
        return await self._show((await self.app.chats.say(self.thread, text)).seq)

    async def answer(self, stats: ReplyStats, decision: Decision) -> ReplyStats:
        """Answer a request for permission and show what follows."""
        receipt = await self.app.chats.answer(
            self.open_thread(), decision=decision.decision, scope=decision.scope, reason=decision.reason
        )
        return await self._show(receipt.seq, stats)

    async def retry(self) -> ReplyStats:
        """Ask the last question again."""
        return await self._show((await self.app.chats.retry(self.open_thread())).seq)

    async def resume(self) -> ReplyStats:
        """Continue where a reply was lost."""
        return await self._show((await self.app.chats.resume(self.open_thread())).seq)

    async def stop(self) -> None:
        """Cut the reply, if there is one."""
        if self.thread is not None:
            with suppress(Refused):
                await self.app.chats.stop(self.thread)

    async def perform(self, action: str, **payload: Any) -> Json:
        """Fork, rewind, merge or change the conversation; returns the chat afterwards."""
        return await self.app.chats.perform(self.open_thread(), action, **payload)

    async def read(self) -> Record:
        """Read all that was said."""
        return await self.app.chats.read(self.open_thread())

    async def pick_up(self) -> None:
        """Show what still runs when a chat is continued: what a lost process left is settled by the runtime."""
        seq = await self.app.chats.position(self.open_thread())
        if await self.app.chats.status(self.open_thread()) == "running":
            await self._show(seq + 1)

    def open_thread(self) -> str:
        """The thread; `NothingSaid` if there is none yet."""
        if self.thread is None:
            raise NothingSaid("nothing was said yet; type a message first")
        return self.thread

    async def _show(self, seq: int, stats: ReplyStats | None = None) -> ReplyStats:
        thread = self.open_thread()
        printer = ReplyPrinter(self.view, stats)
        last = seq
        async with refreshed(self.view):
            async for activity in self.app.chats.until_idle(thread, seq - 1):
                last = activity.seq
                if self._listener is not None:
                    self._listener(activity)
                is_retried = activity.kind == "retrying"
                printer.take(activity, await self.app.chats.next_attempt(thread) if is_retried else None)
            if printer.stats.ended == "stopped":
                await self.app.chats.settle(thread, last)
        return printer.stats
