"""Operations on threads of every kind: send, answer, stop, follow, fork, archive, export, delete."""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, ClassVar

from antiphon.runtime.doors import Doors
from antiphon.runtime.errors import RootExists, UnknownRoot
from antiphon.runtime.records import Receipt, RootState
from antiphon.threads.activity import Activity
from antiphon.threads.errors import Busy, NotTaken, Refused, UnknownThread, WrongKind
from antiphon.threads.following import (
    ActivityPage,
    Place,
    ThreadChange,
    UntilIdle,
    follow_all,
    follow_steps,
    read_activities,
)
from antiphon.threads.forks import rename_thread
from antiphon.threads.kinds import Json, content_of
from antiphon.threads.library import IMPORTED, THREAD, Library
from antiphon.threads.machine.thread import start_event
from antiphon.threads.requests import (
    PROVIDER_ERROR,
    Answer,
    OpenRequest,
    find_request,
    open_requests,
    unknown_request,
)
from antiphon.threads.resources import Resources

ATTEMPTS = 3  # a status may change between looking and sending
ID_BYTES = 4
ID = re.compile(r"(?!last$)[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")  # commands take "last" for the latest thread
ID_FORM = "a name of letters, digits, '.', ':', '-' and '_', at most 64, and not 'last'"
PAGE = 1000
OF_OPTIONS = "chat"  # the kind of threads whose messages may have options of the model


class ThreadService:
    """Threads of a runtime: of any kind, or of the kind of a subclass."""

    kind: ClassVar[str | None] = None

    def __init__(self, runtime: Doors, library: Library, resources: Resources | None = None) -> None:
        self.runtime = runtime
        self.library = library
        self.resources = resources or Resources()

    async def _create(
        self,
        kind: str,
        make_config: Callable[[str], Json],
        *,
        title: str | None = None,
        owner: str = "",
        id: str | None = None,
        imported: bool = False,
    ) -> str:
        """Create a thread, with the settings that `make_config` returns for its id, and return the id.

        Raise `Refused` if another thread has the requested id; without one, the id is random.
        """
        if id is not None and not ID.fullmatch(id):
            raise Refused(f"id is {id!r}; it must be {ID_FORM}")
        while True:
            name = id or secrets.token_hex(ID_BYTES)
            thread = {"threadId": name, "kind": kind, "title": title, "owner": owner, "config": make_config(name)}
            input = {**thread, IMPORTED: True} if imported else thread
            try:
                return await self.runtime.create(THREAD, root=name, input=input)
            except RootExists as error:
                if id is not None:
                    raise Refused(f"there is a thread {id!r} already; choose another id, or none") from error

    async def send(self, thread: str, event: Mapping[str, Any], *, id: str | None = None, to: str = "") -> Receipt:
        """Send an event to a thread, or to an actor in it; raise `Refused` with the events it takes instead.

        An event whose `id` was taken before is not taken again: the receipt is a `duplicate`.
        """
        status = await self.status(thread)
        receipt = _require_taken(thread, await self.runtime.send(thread, event, id=id, to=to))
        if receipt.status == "rejected":
            raise Refused(
                f"{event['type']} is not possible now: {self.noun} {thread!r} is {status}; {possible(receipt)}"
            )
        return receipt

    async def begin(self, thread: str, *, id: str | None = None, **payload: Any) -> Receipt:
        """Start, continue, answer or restart a thread, depending on its status; raise `Busy` if it takes no message."""
        for _ in range(ATTEMPTS):
            status = await self.status(thread)
            event = {"type": start_event(status), "at": self.runtime.now(), **payload}  # type: ignore[arg-type]
            receipt = _require_taken(thread, await self.runtime.send(thread, event, id=id))
            if receipt.status != "rejected":
                return receipt
            if status == "running" == await self.status(thread):
                raise Busy(f"{self.noun} {thread!r} is busy; wait, stop it, or set onBusy to queue or interrupt")
            await asyncio.sleep(0)
        raise Refused(f"{self.noun} {thread!r} kept changing its status; try again")

    async def say(
        self,
        thread: str,
        text: str = "",
        *,
        parts: Sequence[Mapping[str, Any]] | None = None,
        options: Mapping[str, Any] | None = None,
        id: str | None = None,
    ) -> Receipt:
        """Send a person's message; the status decides whether it starts, continues, answers or restarts."""
        if parts is None and not text:
            raise Refused("the message is empty; pass a text, or parts")
        content: dict[str, Any] = {"text": text} if parts is None else {"parts": list(parts)}
        if options:
            if self.kind != OF_OPTIONS:
                raise Refused(
                    f"a message to {self.noun} {thread!r} has no options of the model, only one to a chat has"
                )
            content["options"] = dict(options)
        return await self.begin(thread, id=id, message={"at": self.runtime.now(), **content})

    async def start(
        self, thread: str, text: str | None = None, *, id: str | None = None, plan: Mapping[str, Any] | None = None
    ) -> Receipt:
        """Start a thread with its first message; only a run takes a plan."""
        if plan is not None:
            await self._check(thread)
            raise Refused(f"{self.noun} {thread!r} takes no plan, only a run does; pass none")
        if text is None:
            await self._check(thread)
            raise Refused(f"{self.noun} {thread!r} starts with a message; pass its text")
        return await self.say(thread, text, id=id)

    async def perform(self, thread: str, action: str, *, id: str | None = None, **payload: Any) -> Json:
        """Send an event to the content of a thread, such as `rewind` of a chat; return the content afterwards."""
        await self._perform(thread, action, id, **payload)
        return (await self.library.read(thread)).content

    async def _perform(self, thread: str, action: str, id: str | None = None, /, **payload: Any) -> Receipt:
        """Send an event to the content of a thread."""
        kind = await self._check(thread)
        if kind is None or not await self.has_content(thread):
            raise Refused(f"{self.noun} {thread!r} is not in progress; it does not accept {action} now")
        return await self.send(thread, {"type": action, "at": self.runtime.now(), **payload}, id=id, to=kind)

    async def answer(
        self,
        id: str,
        text: str | None = None,
        *,
        decision: str | None = None,
        scope: str = "once",
        outside: bool = False,
        reason: str | None = None,
        request: str | None = None,
        limit: float | None = None,
        arguments: Mapping[str, Mapping[str, Any]] | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Answer a question in words, or a request for permission: `allow` or `deny`.

        An allowance holds `once`, or for a `scope` that the request offers (`OpenRequest.scopes`): this exact
        `command`, this `folder`, this `host`, this `tool`. `outside` runs commands without the sandbox, once.
        `NotOffered` says that the request offers less. `arguments` changes those of calls, by their ids, once.
        A chat at one of its limits is allowed to go on up to `limit`, or up to the one that it offers.
        `request` is the id of the request, and may be left out where only one is open. `UnknownRequest` says that it
        is not open any more, or never was. An answer whose `key` was taken before is a `duplicate`.
        """
        if (earlier := await self._outcome(id, key)) is not None:
            return earlier
        open_request = find_request(await self.snapshot(id), request)
        event = Answer(text, decision, scope, outside, reason, limit, arguments).to_event(
            open_request, self.runtime.now()
        )
        receipt = _require_taken(id, await self.runtime.send(id, event, id=key, to=open_request.address))
        if receipt.status == "rejected":
            raise unknown_request(await self.snapshot(id), open_request.id)
        return receipt

    async def set_mode(self, id: str, mode: str) -> None:
        """Let a mode of permission hold for a thread as long as this process, in place of that of its settings.

        A thread that was imported or restored has no other way to get a mode that allows more than reading.
        """
        await self._check(id)
        self.resources.grants.give(id, mode)

    async def allow_model(self, id: str, reference: str) -> None:
        """Let a thread that was imported or restored ask a model by address or file, as long as this process.

        Models that are named by their provider need no such permission, and neither do other threads.
        """
        await self._check(id)
        self.resources.grants.name_model(id, reference)

    async def _outcome(self, thread: str, letter: str | None) -> Receipt | None:
        """Return the receipt of an event that was taken before, as a duplicate, or None."""
        await self._check(thread)
        receipt = None if letter is None else await self.runtime.store.outcome(thread, letter)
        if receipt is None or receipt.status != "accepted":
            return None
        history = (await self.runtime.cursor(thread, receipt.seq)).rpartition(":")[0]
        return receipt._replace(status="duplicate", history=history)

    async def requests(self, id: str) -> list[OpenRequest]:
        """Return the open requests of a thread to a person, the oldest first."""
        return open_requests(await self.snapshot(id))

    async def stop(self, id: str, *, key: str | None = None) -> Receipt:
        """Stop the run of a thread; an event whose `key` was taken before is a `duplicate`, here and below."""
        return await self.send(id, {"type": "STOP", "at": self.runtime.now()}, id=key)

    async def pause(self, id: str, *, key: str | None = None) -> Receipt:
        """Pause a thread until it is resumed; only debates can be paused."""
        kind = await self._check(id)
        raise Refused(f"a {kind} cannot be paused, only debates can; stop it, and resume it later")

    async def resume(self, id: str, *, key: str | None = None) -> Receipt:
        """Continue where a process was lost, or where the thread was stopped."""
        await self._refuse_in(id, ("pending", "completed"), "nothing to resume")
        return await self.send(id, {"type": "RESTART", "at": self.runtime.now()}, id=key)

    async def retry(self, id: str, *, key: str | None = None) -> Receipt:
        """Repeat the request that failed."""
        await self._refuse_in(id, ("pending",), "nothing to repeat")
        return await self.begin(id, id=key, retry=True)

    async def _waits_after_error(self, id: str) -> bool:
        """Return whether a thread waits for a person because a model cannot be asked."""
        return any(request.reason == PROVIDER_ERROR for request in await self.requests(id))

    async def _refuse_in(self, id: str, statuses: Collection[str], problem: str) -> None:
        """Raise `Refused` if a thread has one of some statuses."""
        status = await self.status(id)
        if status in statuses:
            raise Refused(f"{self.noun} {id!r} is {status}: there is {problem}")

    async def archive(self, id: str, archived: bool = True, *, key: str | None = None) -> Receipt:
        """Archive a thread, or take it out of the archive; an archived one that does not run leaves the memory."""
        event = {"type": "ARCHIVE" if archived else "UNARCHIVE", "at": self.runtime.now()}
        receipt = await self.send(id, event, id=key)
        if archived:
            self.resources.forget(id)
            await self.runtime.unload(id)
        return receipt

    async def rename(self, id: str, title: str | None, *, key: str | None = None) -> Receipt:
        """Set the title of a thread; without one, its kind derives one."""
        return await self.send(id, {"type": "RENAME", "title": title}, id=key)

    async def export(self, id: str, format: str = "md") -> str:
        """Export a thread as Markdown (`md`), one HTML page (`html`), or JSON (`json`)."""
        await self._find(id)
        return await self.library.export(id, format)

    async def fork(self, id: str, step: int | None = None, *, new: str | None = None) -> str:
        """Create a thread that continues from another one, as it is or as it was after a step; return its id.

        Work in progress is not shared: in the fork it is interrupted. `new` is an id that no other thread has; without
        it, the id is random.
        """
        await self._check(id)
        last = (await self.runtime.store.history(id))[1]
        if step is not None and not (isinstance(step, int) and 1 <= step <= last):
            raise Refused(f"{self.noun} {id!r} has no step {step!r}; it has the steps 1 to {last}")
        while True:
            name = new or secrets.token_hex(ID_BYTES)
            edit = partial(rename_thread, old=id, new=name)
            try:
                return await self.runtime.fork(id, step or last, new=name, edit=edit)
            except RootExists as error:
                if new is not None:
                    raise Refused(f"there is a thread {new!r} already; choose another id, or none") from error

    async def delete(self, id: str) -> None:
        """Delete a thread with all that belongs to it, for ever; work in progress is stopped first. Forks are kept."""
        await self._find(id)
        await self.resources.keep_costs(id)
        await self.runtime.delete(id)
        await self.resources.delete_copies(id)
        self.resources.forget(id)
        self.resources.grants.withdraw(id)

    async def status(self, id: str) -> str:
        """Return the status of a thread."""
        return str((await self.state(id)).value)

    async def cursor(self, id: str) -> str:
        """Return the cursor of the last step of a thread, to follow from."""
        await self._check(id)
        return await self.runtime.cursor(id)

    async def config(self, id: str) -> Json:
        """Return the settings that a thread was created with."""
        config: Json = (await self.state(id)).get("config")
        return config

    async def has_content(self, id: str) -> bool:
        """Return whether a thread has content now: it has begun, and its content has not ended."""
        return (await self.state(id)).get("content") is not None

    async def content(self, id: str) -> Json | None:
        """Return the context of a thread's content, or None if it has ended."""
        return content_of(await self.snapshot(id))

    async def snapshot(self, id: str, step: int | None = None) -> Any:
        """Return a thread's snapshot as JSON, now or after an earlier step."""
        await self._check(id)
        return await self.runtime.snapshot(id, step)

    async def state(self, id: str) -> RootState:
        """Return the state of a thread without its content."""
        await self._check(id)
        return await self.runtime.state(id)

    async def _find(self, id: str) -> None:
        """Raise the errors of `_check`; a damaged thread is found, unless its kind has to be known."""
        summary = await self.runtime.store.summary(id)
        if self.kind is not None or summary is None or summary.machine != THREAD:
            await self._check(id)

    async def _check(self, id: str) -> str | None:
        """Return the kind of a thread; raise `UnknownThread` if there is none, `WrongKind` if it is of another kind."""
        try:
            origin = await self.runtime.origin(id)
        except UnknownRoot:
            raise UnknownThread(f"there is no {self.noun} {id!r}") from None
        if origin.machine != THREAD:
            raise UnknownThread(f"{id!r} runs the machine {origin.machine!r} and is not a thread; use app.runtime")
        kind: str | None = (origin.input or {}).get("kind")
        if self.kind not in (None, kind):
            raise WrongKind(id, kind, self.noun)
        return kind

    async def steps(
        self, id: str, after: int | str = 0, *, wait_for_release: bool = False
    ) -> AsyncIterator[list[Activity]]:
        """Iterate over the activities of each step after a step or cursor, and then of each new step."""
        await self._check(id)
        async with aclosing(follow_steps(self.runtime, id, after, wait_for_release=wait_for_release)) as pages:
            async for page in pages:
                for step in page:
                    yield step

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
        return UntilIdle(self.runtime, id, after, self._check)

    async def activities(self, id: str, after: int | str = 0, limit: int = PAGE, *, words: bool = True) -> ActivityPage:
        """Return a page of the activities after a step or cursor that the journal has, at least `limit` if it has more.

        Without `words`, the activities `text` and `thinking` are left out.
        Raise `OtherHistory` if the cursor is of another past, `JournalCompacted` if the steps after it were removed.
        """
        await self._check(id)
        return await read_activities(self.runtime, id, after, limit, words=words)

    async def history(self, id: str) -> tuple[list[Activity], str]:
        """Return all activities that the journal has, and the cursor to follow from."""
        await self._check(id)
        saved = await self.runtime.store.load(id)
        place = await Place.find(self.runtime, id, 0 if saved is None else saved.first - 1)
        past: list[Activity] = []
        while page := await self.runtime.store.entries(id, place.after, PAGE):
            past += [activity for entry in page for activity in await place.read(entry)]
        return past, place.cursor

    @property
    def noun(self) -> str:
        """The word for threads of this kind in messages."""
        return self.kind or "thread"


def possible(receipt: Receipt) -> str:
    """Return the end of the message for a rejected event: the events that can happen now."""
    events = sorted(name for name in receipt.can if not name.startswith("xstate."))
    return f"possible: {', '.join(events) or 'nothing'}"


def _require_taken(thread: str, receipt: Receipt) -> Receipt:
    """Return a receipt; raise `Refused` for an event that is not as declared, `NotTaken` if its step raised."""
    if receipt.problem is not None:
        raise Refused(receipt.problem.text)
    if receipt.status == "failed":
        raise NotTaken(thread, receipt.error)
    return receipt
