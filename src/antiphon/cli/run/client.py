"""One run in the terminal: begun or resumed, followed and shown, on the background loop."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from antiphon.agents.machine.context import first_context
from antiphon.agents.service import RunHappening
from antiphon.app import App
from antiphon.cli.chat.client import refreshed
from antiphon.cli.render.plain import View
from antiphon.cli.run.printer import RunNarration
from antiphon.threads.errors import Refused

CANCELLING = "cancelling …; Ctrl-C leaves at once"
LOST = "its process was lost; it goes on from its last step"
TOO_LATE = "that was not asked any more; nothing was done with the answer"
Heard = Callable[[RunHappening], None]


class Work:
    """A run, from its task until it needs a person or is over."""

    def __init__(self, app: App, id: str, view: View, narration: RunNarration, heard: Heard | None = None) -> None:
        self.app, self.id, self._view, self._narration = app, id, view, narration
        self._heard = heard or (lambda happening: None)
        self._last = 0
        self.result: Mapping[str, Any] | None = None  # how the run ended

    async def begin(self, task: str, plan: Mapping[str, Any] | None = None) -> str:
        """Give the run its task and show what follows; gives the status it was left in."""
        self._narration.pick_up(first_context(await self.app.runs.config(self.id)))
        self._last = (await self.app.runs.start(self.id, task, plan=plan)).seq - 1
        return await self.follow()

    async def resume(self) -> str:
        """Go on where a process was lost; what was done before is not shown again."""
        self._last = await self.app.threads.position(self.id)
        context = await self.app.runs.context(self.id)
        if context is not None:
            self._narration.pick_up(context)
        status = await self.app.runs.status(self.id)
        if status == "running":
            # The runtime is about to find out what was lost, or the run goes on by itself.
            status = await self.follow()
        if status == "interrupted" or (status == "waiting" and await self._is_lost()):
            self._view.line(LOST)
            self._last = (await self.app.runs.resume(self.id)).seq - 1
            status = await self.follow()
        return status

    async def _is_lost(self) -> bool:
        """Whether the process that asked is gone: a question outlives it, a request for permission does not."""
        context = await self.app.runs.context(self.id)
        if context is None or context["lostAgents"]:
            return context is not None
        if all(asked["reason"] != "permission" for asked in context["waiting"]):
            return False
        async for happening in self.app.runs.follow(self.id, self._last):
            await self._take(happening)
            if happening.kind == "interrupted":
                break
        return True

    async def follow(self) -> str:
        """Show what happens until the run needs a person, or is over; gives its status."""
        told = ""
        async with refreshed(self._view):
            async for happening in self.app.runs.until_idle(self.id, self._last):
                await self._take(happening)
                told = happening.facts["status"] if happening.kind == "status" else told
            if told == "stopped" and self.result is None and await self.app.runs.context(self.id) is not None:
                # A tool that was at work may come to its end first.
                async for happening in self.app.runs.follow(self.id, self._last):
                    await self._take(happening)
                    if self.result is not None:
                        break
        return told

    async def _take(self, happening: RunHappening) -> None:
        self._last = happening.seq
        self._heard(happening)
        if happening.kind == "run_ended":
            self.result = happening.facts
        self._narration.take(happening)

    async def asked(self) -> Mapping[str, Any] | None:
        """What a person is asked first, if anything."""
        context = await self.app.runs.context(self.id)
        waiting = context["waiting"] if context is not None else ()
        return waiting[0] if waiting else None

    def name(self, asked: Mapping[str, Any]) -> str:
        """Who asks."""
        return self._narration.name(asked["agentId"])

    async def outcome(self) -> Mapping[str, Any] | None:
        """How the run ended; nothing while it is not over."""
        return self.result if self.result is not None else await self.app.runs.result(self.id)

    async def answer(self, asked: Mapping[str, Any], given: Mapping[str, Any]) -> str:
        """Answer, and show what follows."""
        facts = {"agentId": asked["agentId"], **({"id": asked["id"]} if asked["reason"] == "permission" else {})}
        try:
            await self.app.runs.answer(self.id, **{**facts, **given})
        except Refused:
            self._view.line(TOO_LATE, "error")
        return await self.follow()

    async def cancel(self) -> None:
        """Stop the run, if it is not over yet; a tool that is at work has a moment to end."""
        self._view.line(CANCELLING)
        with suppress(Refused):
            await self.app.runs.cancel(self.id)

    async def cancelled(self) -> str:
        """Stop the run and show how it ends."""
        await self.cancel()
        return await self.follow()
