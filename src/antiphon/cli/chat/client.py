"""One conversation in the terminal: a thread that is spoken to, followed and shown, on the background loop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from antiphon.app import App
from antiphon.chat.activity import Happening
from antiphon.cli.chat.printer import Narration
from antiphon.cli.chat.reply_stats import Account
from antiphon.cli.default_model import settings_for
from antiphon.cli.render.plain import View
from antiphon.threads.errors import NothingSaid
from antiphon.threads.views import Talk

REFRESH_S = 0.1
Heard = Callable[[Happening], None]


class Dialogue:
    """A thread, made when something is first said in it."""

    def __init__(self, app: App, view: View, config: Mapping[str, Any], heard: Heard | None = None) -> None:
        self.app, self.view, self.config = app, view, dict(config)
        self.thread: str | None = None
        self._heard = heard or (lambda happening: None)

    async def begin(self) -> str:
        """The thread, made if there is none yet."""
        if self.thread is None:
            self.thread = await self.app.threads.create(**{**settings_for(self.config["model"]), **self.config})
        return self.thread

    async def say(self, text: str) -> Account:
        """Say something and show the answer."""
        thread = await self.begin()
        return await self._show(thread, (await self.app.threads.say(thread, text)).seq)

    async def answer(self, account: Account, decision: str, scope: str, reason: str | None = None) -> Account:
        """Answer a request for permission and show what follows."""
        thread = self.known()
        receipt = await self.app.threads.answer(thread, decision, scope=scope, reason=reason)
        return await self._show(thread, receipt.seq, account)

    async def retry(self) -> Account:
        """Ask the last question again."""
        thread = self.known()
        return await self._show(thread, (await self.app.threads.retry(thread)).seq)

    async def resume(self) -> Account:
        """Go on where a reply was lost."""
        thread = self.known()
        return await self._show(thread, (await self.app.threads.resume(thread)).seq)

    async def stop(self) -> None:
        """Cut the reply, if there is one."""
        if self.thread is not None:
            with suppress(NothingSaid):
                await self.app.threads.stop(self.thread)

    async def perform(self, action: str, **payload: Any) -> Mapping[str, Any]:
        """Do something with the conversation itself; gives the chat afterwards."""
        return await self.app.threads.perform(self.known(), action, **payload)

    async def talk(self) -> Talk:
        """All that was said."""
        return await self.app.threads.library.read(self.known())

    async def pick_up(self) -> Account | None:
        """Show what still runs when a thread is continued: what a lost process left is settled by the runtime."""
        thread = self.known()
        seq = await self.app.threads.position(thread)
        if await self.app.threads.status(thread) != "running":
            return None
        return await self._show(thread, seq + 1)

    def known(self) -> str:
        """The thread; `NothingSaid` if there is none yet."""
        if self.thread is None:
            raise NothingSaid("nothing was said yet; type a message first")
        return self.thread

    async def _show(self, thread: str, seq: int, account: Account | None = None) -> Account:
        narration = Narration(self.view, account)
        last = seq
        async with refreshed(self.view):
            async for happening in self.app.threads.until_idle(thread, seq - 1):
                last = happening.seq
                self._heard(happening)
                failed = happening.kind == "retrying"
                attempt = await self.app.threads.next_attempt(thread) if failed else None
                narration.take(happening, attempt)
            if narration.account.ended == "stopped":
                await self.app.threads.settled(thread, last)
        return narration.account


@asynccontextmanager
async def refreshed(view: View) -> AsyncIterator[None]:
    """A view that is drawn again and again, from its begin to its end."""
    view.begin()
    ticking = asyncio.create_task(_tick(view))
    try:
        yield
    finally:
        ticking.cancel()
        view.end()


async def _tick(view: View) -> None:
    while True:
        await asyncio.sleep(REFRESH_S)
        view.refresh()
