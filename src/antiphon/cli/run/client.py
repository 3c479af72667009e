"""Client of one run: starts or resumes it and prints what happens."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from antiphon.cli.argument_edits import tool_schema
from antiphon.cli.permission_prompt import REFUSED_EDIT, TOO_LATE, Answerer
from antiphon.cli.render.plain import TextView
from antiphon.cli.render.refresh import auto_refresh
from antiphon.cli.run.printer import RunPrinter
from antiphon.cli.windows.types import AnyThreads, Window, as_client
from antiphon.threads.activity import Activity
from antiphon.threads.denials import agent_messages, find_denials
from antiphon.threads.errors import Refused, UnknownRequest
from antiphon.threads.kinds import Json
from antiphon.threads.requests import PROVIDER_ERROR, OpenRequest

CANCELLING = "cancelling …; press Ctrl-C again to leave at once"
RESUMING = "the process of this run was lost; continuing from its last step"
RUN = "run"
Listener = Callable[[Activity], None]


class RunClient:
    """A run, followed until it waits for the user or ends."""

    def __init__(
        self,
        window: Window,
        id: str,
        view: TextView,
        printer: RunPrinter,
        listener: Listener | None = None,
        *,
        continues: bool = True,
    ) -> None:
        self._threads = window.threads
        self._library = window.library
        self._is_served = hasattr(window, "connection")
        self._client = as_client(window)  # of the server that runs it, which outlives this window
        if self._client is not None:
            self._client.on_restart = view.line
        self.id = id
        self._view = view
        self._printer = printer
        self._listener = listener
        self._continues = continues  # whether to resume it if its server ends meanwhile
        self._after: int | str = 0  # the step or cursor that was printed last
        self.result: Json | None = None
        self._taken: str | None = None  # the line to print once the last decision counts

    async def start(self, task: str, plan: Mapping[str, Any] | None = None) -> str:
        """Start the run with a task, follow it, and return its status."""
        self._printer.set_limits((await self._library.read(self.id, RUN)).content["limits"])
        self._after = (await self._threads.start(self.id, task, plan=plan)).seq - 1
        return await self.follow()

    async def resume(self) -> str:
        """Continue a run whose process was lost, follow it, and return its status."""
        status = await self.attach()  # the runtime will settle what was lost, or the run continues by itself
        if status == "interrupted" or (status == "waiting" and await self._is_lost()):
            self._view.line(RESUMING)
            self._after = (await self._threads.resume(self.id)).seq - 1
            status = await self.follow()
        return status

    async def attach(self) -> str:
        """Follow the run if it is running, and return its status."""
        self._after = await self._threads.cursor(self.id)
        context = await self._threads.content(self.id)
        if context is not None:
            self._printer.restore(context)
        status = await self._threads.status(self.id)
        return await self.follow() if status == "running" or not self._continues else status

    async def has_lost_agents(self) -> bool:
        """Return whether the process of agents was lost, so that the run has to be resumed."""
        context = await self._threads.content(self.id)
        return context is not None and bool(context["lostAgents"])

    async def _is_lost(self) -> bool:
        """Return whether the process that asked is gone, or lacked a key.

        A question outlives its process, a request for permission does not.
        """
        context = await self._threads.content(self.id)
        if context is None or context["lostAgents"]:
            return context is not None
        reasons = [request.reason for request in await self._threads.requests(self.id)]
        if PROVIDER_ERROR in reasons or "permission" not in reasons:
            return PROVIDER_ERROR in reasons
        if self._is_served:  # the server that asked still runs
            return False
        async for activity in self._threads.follow(self.id, self._after):
            await self._handle(activity)
            if activity.kind == "interrupted":
                break
        return True

    async def follow(self) -> str:
        """Print activities until the run waits for the user or ends; return its status.

        A run whose server has ended is continued by the next server.
        """
        status = await self._follow()
        while await self._is_left_by_server(status):
            self._view.line(RESUMING)
            try:
                await self._threads.resume(self.id)
            except Refused:
                if await self._threads.status(self.id) == status:
                    raise
                # Another window has continued it.
            status = await self._follow()
        return status

    async def _is_left_by_server(self, status: str) -> bool:
        """Return whether the server that ran this has ended, so that the run has to be resumed."""
        if self._client is None or not self._continues or status not in ("interrupted", "waiting"):
            return False
        return status == "interrupted" or await self.has_lost_agents()

    async def _follow(self) -> str:
        idle = self._threads.until_idle(self.id, self._after)
        async with auto_refresh(self._view):
            async for activity in idle:
                await self._handle(activity)
        return idle.status or ""

    async def wait_for_status(self) -> str:
        """Print activities until the run has another status or has lost its process, and then as `follow` does."""
        async for activity in self._threads.follow(self.id, self._after):
            await self._handle(activity)
            if activity.kind in ("status", "interrupted"):
                break
        return await self.follow()

    async def _handle(self, activity: Activity) -> None:
        self._after = activity.cursor
        if self._listener is not None:
            self._listener(activity)
        if activity.kind == "run_ended":
            self.result = activity.facts
        self._printer.print(activity, await self._denial(activity))

    async def _denial(self, activity: Activity) -> str | None:
        """Return why a call was denied that is answered without a result of its tool."""
        result = activity.facts["toolResult"] if activity.kind == "tool_answered" else {}
        if not result.get("isError") or not self._printer.awaits_result(result["id"]):
            return None
        # At that step: meanwhile the agent may have ended, and its conversation with it.
        snapshot = await self._threads.snapshot(self.id, activity.seq)
        return find_denials(agent_messages(snapshot, activity.speaker or ""), [result["id"]]).get(result["id"])

    async def request(self) -> OpenRequest | None:
        """Return the first request to the user, if any."""
        requests = await self._threads.requests(self.id)
        return requests[0] if requests else None

    async def _is_open(self, request: str) -> bool:
        return any(each.id == request for each in await self._threads.requests(self.id))

    async def outcome(self) -> Json | None:
        """Return the result of the run; None while it is running."""
        return self.result if self.result is not None else await find_result(self._threads, self.id)

    def lacks_key(self, request: OpenRequest) -> bool:
        """Return whether a request is for the key of a model, and print which."""
        if request.reason != PROVIDER_ERROR:
            return False
        self._view.line(request.text or "", "error")
        return True

    async def decide(self, request: OpenRequest, answerer: Answerer) -> dict[str, Any]:
        """Get the answer to a request."""
        speaker = self._printer.name(request.speaker or "")
        if request.reason != "permission":
            options = [str(option) for option in request.options]
            return {"text": await answerer.reply(request.text or "", options, speaker)}
        schema_of = partial(tool_schema, self._library, self.id)
        decision = await answerer.permit(request.calls, speaker, schema_of, partial(self._is_open, request.id))
        self._taken = decision.taken
        return decision.to_answer()

    async def answer(self, request: OpenRequest, answer: Mapping[str, Any]) -> str:
        """Send the answer to a request and follow the run."""
        try:
            await self._threads.answer(self.id, request=request.id, **answer)
        except UnknownRequest:
            self._view.line(REFUSED_EDIT if answer.get("arguments") else TOO_LATE, "error")
        else:
            if self._taken is not None:
                self._view.line(self._taken)
        self._taken = None
        return await self.follow()

    async def cancel(self) -> None:
        """Stop the run, if it is still running; a running tool gets a short time to finish."""
        self._view.line(CANCELLING)
        with suppress(Refused):
            await self._threads.stop(self.id)

    async def cancel_and_follow(self) -> str:
        """Stop the run and follow it to its end."""
        await self.cancel()
        return await self.follow()


async def find_result(threads: AnyThreads, id: str) -> Json | None:
    """Return the result of a run from its journal; None while it is running."""
    activities, _ = await threads.history(id)
    return next((activity.facts for activity in reversed(activities) if activity.kind == "run_ended"), None)
