"""Operations on threads of every kind: create, send, follow, answer, stop, archive."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, ClassVar

from antiphon.runtime.doors import Doors
from antiphon.runtime.errors import RootExists, UnknownRoot
from antiphon.runtime.records import Receipt
from antiphon.threads.activity import Activity
from antiphon.threads.errors import Busy, Refused, UnknownThread
from antiphon.threads.following import Place, ThreadChange, UntilIdle, follow_all, follow_steps
from antiphon.threads.kinds import Json, content_of
from antiphon.threads.library import Library
from antiphon.threads.machine.thread import start_event
from antiphon.threads.machine.thread_events import Kind

ATTEMPTS = 3  # a status may change between looking and sending
ID_BYTES = 4
PAGE = 1000


class ThreadService:
    """Threads of a runtime: of any kind, or of the kind of a subclass."""

    kind: ClassVar[Kind | None] = None
    has_approver = False  # new threads leave requests for permission to the function of the app

    def __init__(self, runtime: Doors, library: Library) -> None:
        self.runtime = runtime
        self.library = library

    async def _create(self, kind: Kind, make_config: Callable[[str], Json], *, title: str | None = None) -> str:
        """Create a thread, with the settings that `make_config` returns for its id, and return the id."""
        while True:
            id = secrets.token_hex(ID_BYTES)
            thread = {"threadId": id, "kind": kind, "title": title, "config": make_config(id)}
            try:
                return await self.runtime.create("thread", root=id, input=thread)
            except RootExists:
                continue

    async def send(self, id: str, event: Mapping[str, Any], *, to: str = "") -> Receipt:
        """Send an event to a thread, or to an actor in it; raise `Refused` with the events it takes instead."""
        status = await self.status(id)
        receipt = await self.runtime.send(id, event, to=to)
        if receipt.problem is not None:
            raise Refused(receipt.problem.text)
        if receipt.status == "rejected":
            allowed = ", ".join(sorted(name for name in receipt.can if not name.startswith("xstate."))) or "nothing"
            raise Refused(f"{event['type']} is not possible now: {self.noun} {id!r} is {status}; possible: {allowed}")
        return receipt

    async def begin(self, id: str, **payload: Any) -> Receipt:
        """Start, continue, answer or restart a thread, depending on its status; raise `Busy` if it takes no message."""
        for _ in range(ATTEMPTS):
            status = await self.status(id)
            event = {"type": start_event(status), "at": self.runtime.now(), **payload}  # type: ignore[arg-type]
            receipt = await self.runtime.send(id, event)
            if receipt.status != "rejected":
                return receipt
            if receipt.problem is not None:
                raise Refused(receipt.problem.text)
            if status == "running" == await self.status(id):
                raise Busy(f"{self.noun} {id!r} is busy; wait, stop it, or set onBusy to queue or interrupt")
            await asyncio.sleep(0)
        raise Refused(f"{self.noun} {id!r} kept changing its status; try again")

    async def answer(
        self,
        id: str,
        text: str | None = None,
        *,
        decision: str | None = None,
        scope: str = "once",
        reason: str | None = None,
        request: str | None = None,
        agent: str | None = None,
        limit: float | None = None,
    ) -> Receipt:
        """Answer a question in words, or a request for permission: `allow` or `deny`, `once` or for the `thread`.

        `request` and `agent` say which request, and whose, where several wait; `limit` is the new one of a chat at
        its limit, which otherwise continues up to the limit that it offers.
        """
        status = await self.status(id)
        if status != "waiting":
            raise Refused(f"{self.noun} {id!r} waits for no answer: it is {status}")
        permission = {"decision": decision, "scope": scope} if decision is not None else {}
        optional = {"text": text, "reason": reason, "id": request, "agentId": agent, "limit": limit}
        fields = {key: value for key, value in optional.items() if value is not None}
        return await self.begin(id, answer={"at": self.runtime.now(), **permission, **fields})

    async def stop(self, id: str) -> Receipt:
        """Stop the run of a thread."""
        return await self.send(id, {"type": "STOP", "at": self.runtime.now()})

    async def resume(self, id: str) -> Receipt:
        """Continue where a process was lost, or where the thread was stopped."""
        return await self.send(id, {"type": "RESTART", "at": self.runtime.now()})

    async def retry(self, id: str) -> Receipt:
        """Repeat the request that failed."""
        return await self.begin(id, retry=True)

    async def archive(self, id: str, archived: bool = True) -> Receipt:
        """Archive a thread, or take it out of the archive."""
        return await self.send(id, {"type": "ARCHIVE" if archived else "UNARCHIVE"})

    async def rename(self, id: str, title: str | None) -> Receipt:
        """Set the title of a thread; without one, its kind derives one."""
        return await self.send(id, {"type": "RENAME", "title": title})

    async def status(self, id: str) -> str:
        """Return the status of a thread."""
        return str((await self.snapshot(id))["value"])

    async def cursor(self, id: str) -> str:
        """Return the cursor of the last step of a thread, to follow from."""
        try:
            return await self.runtime.cursor(id)
        except UnknownRoot:
            raise UnknownThread(f"there is no {self.noun} {id!r}") from None

    async def config(self, id: str) -> Json:
        """Return the settings that a thread was created with."""
        config: Json = (await self.snapshot(id))["context"]["config"]
        return config

    async def content(self, id: str) -> Json | None:
        """Return the context of a thread's content, or None if it has ended."""
        return content_of(await self.snapshot(id))

    async def snapshot(self, id: str) -> Any:
        """Return a thread's snapshot as JSON; raise `UnknownThread` if there is none of this kind."""
        try:
            snapshot = await self.runtime.snapshot(id)
        except UnknownRoot:
            raise UnknownThread(f"there is no {self.noun} {id!r}") from None
        if self.kind not in (None, snapshot["context"]["kind"]):
            raise UnknownThread(f"thread {id!r} is a {snapshot['context']['kind']}, not a {self.noun}")
        return snapshot

    def steps(self, id: str, after: int | str = 0, *, wait_for_release: bool = False) -> AsyncIterator[list[Activity]]:
        """Iterate over the activities of each step after a step or cursor, and then of each new step."""
        return follow_steps(self.runtime, id, after, wait_for_release=wait_for_release)

    async def follow(self, id: str, after: int | str = 0, *, wait_for_release: bool = False) -> AsyncIterator[Activity]:
        """Iterate over the activities after a step or cursor, and then over new ones until the thread has ended.

        `OtherHistory` says that the cursor is of another past; its `resume` is the cursor to continue from.
        `Quarantined` is raised after the last activity, unless the release of the thread is waited for.
        """
        async for step in self.steps(id, after, wait_for_release=wait_for_release):
            for activity in step:
                yield activity

    def follow_all(self, cursors: Mapping[str, int | str] | None = None) -> AsyncIterator[ThreadChange]:
        """Iterate over the activities of some threads, each after its cursor, and over changes of all threads."""
        return follow_all(self.runtime, dict(cursors or {}))

    def until_idle(self, id: str, after: int | str = 0) -> UntilIdle:
        """Iterate over the activities after a step or cursor, until the thread has nothing left to do now.

        Awaited, it waits for that and returns the status of the thread.
        """
        return UntilIdle(self.runtime, id, after)

    async def history(self, id: str) -> tuple[list[Activity], str]:
        """Return all activities that the journal has, and the cursor to follow from."""
        saved = await self.runtime.store.load(id)
        place = await Place.find(self.runtime, id, 0 if saved is None else saved.first - 1)
        past: list[Activity] = []
        while page := await self.runtime.store.entries(id, place.after, PAGE):
            past += [activity for entry in page for activity in place.read(entry)]
        return past, place.cursor

    @property
    def noun(self) -> str:
        """The word for threads of this kind in messages."""
        return self.kind or "thread"
