"""Client of one chat: sends messages and prints what follows."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from antiphon.chat.record import attempt_of, denials_in
from antiphon.cli.chat.limits import LimitDecision
from antiphon.cli.chat.outgoing import create_chat, message_parts, readable_text
from antiphon.cli.chat.printer import ReplyPrinter
from antiphon.cli.chat.reply_stats import ReplyStats
from antiphon.cli.permission_prompt import TOO_LATE, PermissionDecision
from antiphon.cli.render.plain import TextView
from antiphon.cli.render.refresh import auto_refresh
from antiphon.cli.windows.types import Window, as_client, models_of
from antiphon.threads.activity import Activity
from antiphon.threads.errors import NothingSaid, PlanOpen, Refused, UnknownRequest
from antiphon.threads.kinds import Json, Record

CHAT = "chat"
RESUMING = "the process of this reply was lost; continuing it"
Listener = Callable[[Activity], None]


class ChatClient:
    """A chat, created with its first message."""

    def __init__(
        self,
        app: Window,
        view: TextView,
        config: Json,
        listener: Listener | None = None,
        attached: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.app = app
        self.view = view
        self.config = dict(config)
        self.models = models_of(app)  # None on another machine, whose server checks them
        self.thread: str | None = None
        self._listener = listener
        self._attached = attached  # parts that go with the first message
        self._window = as_client(app)  # of the server that runs the chat, which outlives this window
        if self._window is not None:
            self._window.on_restart = view.line
        self.first_options: Mapping[str, Any] = {}  # of the model, for the first message alone
        self._after: int | str = 0  # the cursor of the activity that was printed last
        self._is_stopping = False  # asked for while the reply may not have begun yet

    @property
    def is_remote(self) -> bool:
        """True if a server runs the chat, which goes on without this window."""
        return hasattr(self.app, "connection")

    async def say(self, text: str, attached: Sequence[Mapping[str, Any]] = ()) -> ReplyStats:
        """Send a message, with what is attached to it, and print the reply."""
        self._is_stopping = False
        message = readable_text(text, self.view)
        parts = message_parts(self.config["model"], message, [*self._attached, *attached])
        options = self.first_options or None
        try:
            if self.thread is None:
                self.thread, receipt = await create_chat(self.app, self.config, message, parts, options)
            else:
                receipt = await self.app.threads.say(self.thread, message, parts=parts, options=options)
        except PlanOpen as error:
            raise _planned(error) from error
        self._attached = ()
        self.first_options = {}
        if self._is_stopping:
            await self.stop()
        return await self._print(receipt.seq - 1)

    async def answer(self, stats: ReplyStats, decision: PermissionDecision | LimitDecision) -> ReplyStats:
        """Answer a request for permission, or the question at a limit, and print what follows."""
        if isinstance(decision, LimitDecision):
            open_request = stats.limit
            answer: Json = {"decision": decision.decision, "limit": decision.limit}
        else:
            open_request = stats.request
            answer = decision.to_answer()
        assert open_request is not None
        try:
            receipt = await self.app.threads.answer(self.open_thread(), request=open_request["requestId"], **answer)
        except UnknownRequest:
            self.view.line(TOO_LATE if isinstance(decision, LimitDecision) else decision.too_late, "error")
            return await self._print(self._after, stats)
        if isinstance(decision, PermissionDecision) and decision.taken is not None:
            self.view.line(decision.taken)
        return await self._print(receipt.seq - 1, stats)

    async def is_open(self, request: str) -> bool:
        """Return whether a request still waits for an answer, and no other terminal has given one."""
        return any(each.id == request for each in await self.app.threads.requests(self.open_thread()))

    async def waiting_reply(self) -> ReplyStats:
        """Return the reply that waits for the user, with the limit or the permission that it waits for."""
        thread = self.open_thread()
        requests = await self.app.threads.requests(thread)
        limits = [{"requestId": request.id, **request.limit} for request in requests if request.limit is not None]
        permissions = [{"requestId": request.id, "calls": request.calls} for request in requests if request.calls]
        asked = next((request.calls for request in requests if request.calls), [])
        calls = {call["id"]: call for call in asked}
        return ReplyStats(
            status=await self.app.threads.status(thread),
            calls=calls,
            unanswered=set(calls),
            request=permissions[0] if permissions else None,
            limit=limits[0] if limits else None,
        )

    async def retry(self) -> ReplyStats:
        """Request the last reply again and print it."""
        return await self._print((await self.app.threads.retry(self.open_thread())).seq - 1)

    async def resume(self) -> ReplyStats:
        """Continue a reply that was lost with its process."""
        return await self._print((await self.app.threads.resume(self.open_thread())).seq - 1)

    async def ask_again(self) -> ReplyStats:
        """Continue a reply whose process was lost while it asked for permission, which asks again."""
        threads = self.app.threads
        cursor = await threads.cursor(self.open_thread())
        if (await self.read()).content["lastError"] is None:  # the runtime has not settled it yet
            async for activity in threads.follow(self.open_thread(), cursor):
                if activity.kind == "reply_failed":
                    break
        self.view.line(RESUMING)
        return await self.resume()

    async def stop(self) -> None:
        """Stop the current reply, or the one that is about to begin."""
        self._is_stopping = True
        if self.thread is not None:
            with suppress(Refused):
                await self.app.threads.stop(self.thread)

    async def perform(self, action: str, **payload: Any) -> Json:
        """Perform an operation such as fork, rewind or merge, and return the chat after it."""
        try:
            return await self.app.threads.perform(self.open_thread(), action, **payload)
        except PlanOpen as error:
            raise _planned(error) from error

    async def proposal(self, line: str | None = None) -> Json:
        """Print a line, wait until the model was asked for the proposal of a merge, and return the proposal."""
        if line is not None:
            self.view.line(line)
        await self.app.threads.until_idle(self.open_thread())
        proposal: Json = (await self.read()).content["merge"]["proposal"]
        return proposal

    async def read(self) -> Record:
        """Read the whole chat."""
        return await self.app.library.read(self.open_thread(), CHAT)

    async def follow_running(self) -> None:
        """Print a reply that is still running when the chat is opened, until the runtime has settled it."""
        cursor = await self.app.threads.cursor(self.open_thread())
        if await self.app.threads.status(self.open_thread()) == "running":
            await self._print(cursor)

    async def watch_reply(self) -> ReplyStats:
        """Print the reply in progress from its beginning, until the chat is idle or waits for the user."""
        return await self._print_once(await self._reply_start(), None)

    async def wait_for_status(self) -> None:
        """Wait until the chat has another status."""
        async for activity in self.app.threads.follow(self.open_thread(), self._after):
            if activity.kind == "status":
                return

    async def _reply_start(self) -> int | str:
        """Return the cursor before the step that has begun the reply in progress."""
        thread = self.open_thread()
        start: int | str = 0
        cursor: int | str = 0
        while True:
            page = await self.app.threads.activities(thread, cursor, words=False)
            for activity in page.activities:
                if activity.kind == "status" and activity.facts["status"] == "running":
                    start = cursor
                cursor = activity.cursor
            cursor = page.cursor
            if not page.has_more:
                return start

    def open_thread(self) -> str:
        """Return the id of the thread; `NothingSaid` if there is none yet."""
        if self.thread is None:
            raise NothingSaid("no messages yet; type a message first")
        return self.thread

    async def _print(self, after: int | str, stats: ReplyStats | None = None) -> ReplyStats:
        """Print the activities after a step or cursor, until the chat is idle.

        A reply whose server has ended meanwhile is continued by the next server.
        """
        restarts = 0 if self._window is None else self._window.restarts
        printed = await self._print_once(after, stats)
        if printed.status != "interrupted" or self._window is None or self._window.restarts == restarts:
            return printed
        self.view.line(RESUMING)
        with suppress(Refused):  # another window has continued it
            await self.app.threads.resume(self.open_thread())
        return await self._print(self._after)

    async def _print_once(self, after: int | str, stats: ReplyStats | None) -> ReplyStats:
        thread = self.open_thread()
        printer = ReplyPrinter(self.view, stats)
        async with auto_refresh(self.view):
            async for activity in self.app.threads.until_idle(thread, after):
                self._after = activity.cursor
                if self._listener is not None:
                    self._listener(activity)
                is_retry = activity.kind == "retrying"
                attempt = attempt_of(await self.app.threads.snapshot(thread)) if is_retry else None
                printer.print(activity, attempt, await self._denials(activity, printer.stats))
        return printer.stats

    async def _denials(self, activity: Activity, stats: ReplyStats) -> dict[str, str]:
        """Return why calls without a result were denied, once all calls of a reply are answered."""
        if activity.kind != "tools_answered" or not stats.unanswered:
            return {}
        return denials_in(await self.app.threads.snapshot(self.open_thread()), stats.unanswered)


def _planned(error: PlanOpen) -> Refused:
    """Return a refusal that names the command by which a plan is finished."""
    return Refused(f"a {error.plan} is planned; finish or cancel it first, in antiphon chat, with /{error.plan}")
