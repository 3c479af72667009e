"""One run in the terminal: begun or resumed, followed and shown, on the background loop."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from antiphon.app import App
from antiphon.cli.permission_prompt import Answerer
from antiphon.cli.render.plain import View
from antiphon.cli.render.refresh import refreshed
from antiphon.cli.run.printer import RunPrinter
from antiphon.threads.activity import Activity
from antiphon.threads.errors import Refused
from antiphon.threads.kinds import Json

CANCELLING = "cancelling …; Ctrl-C leaves at once"
LOST = "its process was lost; it goes on from its last step"
TOO_LATE = "that was not asked any more; nothing was done with the answer"
Listener = Callable[[Activity], None]


class RunClient:
    """A run, from its task until it needs a person or is over."""

    def __init__(self, app: App, id: str, view: View, printer: RunPrinter, listener: Listener | None = None) -> None:
        self.runs = app.runs
        self.id = id
        self._view = view
        self._printer = printer
        self._listener = listener
        self._last = 0
        self.result: Json | None = None  # how the run ended

    async def begin(self, task: str, plan: Mapping[str, Any] | None = None) -> str:
        """Give the run its task and show what follows; returns the status it was left in."""
        self._printer.limits((await self.runs.read(self.id))["limits"])
        self._last = (await self.runs.start(self.id, task, plan=plan)).seq - 1
        return await self.follow()

    async def resume(self) -> str:
        """Continue where a process was lost; what was done before is not shown again."""
        self._last = await self.runs.position(self.id)
        context = await self.runs.content(self.id)
        if context is not None:
            self._printer.pick_up(context)
        status = await self.runs.status(self.id)
        if status == "running":
            # The runtime is about to find out what was lost, or the run goes on by itself.
            status = await self.follow()
        if status == "interrupted" or (status == "waiting" and await self._is_lost()):
            self._view.line(LOST)
            self._last = (await self.runs.resume(self.id)).seq - 1
            status = await self.follow()
        return status

    async def _is_lost(self) -> bool:
        """Whether the process that asked is gone: a question outlives it, a request for permission does not."""
        context = await self.runs.content(self.id)
        if context is None or context["lostAgents"]:
            return context is not None
        if all(request["reason"] != "permission" for request in context["waiting"]):
            return False
        async for activity in self.runs.follow(self.id, self._last):
            self._take(activity)
            if activity.kind == "interrupted":
                break
        return True

    async def follow(self) -> str:
        """Show what happens until the run needs a person, or is over; returns its status."""
        status = ""
        async with refreshed(self._view):
            async for activity in self.runs.until_idle(self.id, self._last):
                self._take(activity)
                status = activity.facts["status"] if activity.kind == "status" else status
            if status == "stopped" and self.result is None and await self.runs.content(self.id) is not None:
                # A tool that was at work may come to its end first.
                async for activity in self.runs.follow(self.id, self._last):
                    self._take(activity)
                    if self.result is not None:
                        break
        return status

    def _take(self, activity: Activity) -> None:
        self._last = activity.seq
        if self._listener is not None:
            self._listener(activity)
        if activity.kind == "run_ended":
            self.result = activity.facts
        self._printer.take(activity)

    async def request(self) -> Json | None:
        """The first request to a person, if there is any."""
        context = await self.runs.content(self.id)
        waiting = context["waiting"] if context is not None else ()
        return waiting[0] if waiting else None

    async def outcome(self) -> Json | None:
        """How the run ended; None while it is not over."""
        return self.result if self.result is not None else await self.runs.result(self.id)

    def decide(self, request: Json, answerer: Answerer) -> dict[str, Any]:
        """Let somebody answer a request, on the main thread."""
        speaker = self._printer.name(request["agentId"])
        if request["reason"] != "permission":
            options = [str(option) for option in request.get("options") or ()]
            return {"text": answerer.reply(request["question"], options, speaker)}
        decision = answerer.permit(request["calls"], speaker)
        return {
            "decision": decision.decision,
            "scope": decision.scope,
            "reason": decision.reason,
            "request": request["id"],
        }

    async def answer(self, request: Json, answer: Mapping[str, Any]) -> str:
        """Answer a request, and show what follows."""
        try:
            await self.runs.answer(self.id, agent=request["agentId"], **answer)
        except Refused:
            self._view.line(TOO_LATE, "error")
        return await self.follow()

    async def cancel(self) -> None:
        """Stop the run, if it is not over yet; a tool that is at work has a moment to end."""
        self._view.line(CANCELLING)
        with suppress(Refused):
            await self.runs.stop(self.id)

    async def cancel_and_follow(self) -> str:
        """Stop the run and show how it ends."""
        await self.cancel()
        return await self.follow()
