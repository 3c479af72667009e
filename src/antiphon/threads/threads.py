"""Threads of all kinds behind one set of methods; each call is passed to the service of the thread's kind."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from antiphon.runtime.doors import Doors
from antiphon.runtime.records import Receipt
from antiphon.threads.consent import REVOKE, StandingPermission, find_permission, standing_permissions
from antiphon.threads.errors import ON_BUSY, Busy, Refused
from antiphon.threads.kinds import Json
from antiphon.threads.library import Library
from antiphon.threads.pages import ThreadPage, acceptable, read_page, usage_of
from antiphon.threads.resources import Resources
from antiphon.threads.service import ThreadService
from antiphon.tools.undo.folder import UndoFolder
from antiphon.tools.undo.plan import UndoPlan

Create = Callable[..., Awaitable[str]]


class Threads(ThreadService):
    """All threads of a runtime, whatever their kind."""

    def __init__(
        self,
        runtime: Doors,
        library: Library,
        services: Mapping[str, ThreadService],
        create: Mapping[str, Create],
        resources: Resources | None = None,
    ) -> None:
        super().__init__(runtime, library, resources)
        self._services = services
        self._create_kind = create

    async def create(self, kind: str, *, title: str | None = None, owner: str = "", **settings: Any) -> str:
        """Create a chat, a run or a debate with its settings; return its id.

        Models, agents and tools are checked before anything is stored; `owner` is a text of the caller's own, and `id`
        a name that no other thread has.
        """
        if kind not in self._create_kind:
            raise Refused(f"there is no kind {kind!r}; known: {', '.join(self._create_kind)}")
        return await self._create_kind[kind](title=title, owner=owner, **settings)

    async def begin(self, thread: str, *, id: str | None = None, **payload: Any) -> Receipt:
        """Start, continue, answer or restart a thread, depending on its status; raise `Busy` if it takes no message."""
        return await (await self._service(thread)).begin(thread, id=id, **payload)

    async def say(
        self,
        thread: str,
        text: str = "",
        *,
        parts: Sequence[Mapping[str, Any]] | None = None,
        options: Mapping[str, Any] | None = None,
        id: str | None = None,
        on_busy: str | None = None,
    ) -> Receipt:
        """Send a person's message: to a chat, to a run, whose first one is its task, or as interjection in a debate.

        `on_busy` says what happens if the thread is running: `reject` raises `Busy`, `interrupt` stops it first;
        `queue` and `merge` need a thread that was created with that setting, which is the default.
        `options` of the model, such as `temperature`, hold for the reply to this message of a chat alone.
        """
        service = await self._service(thread)
        if on_busy is not None and await self._outcome(thread, id) is None:
            await self._make_room(thread, on_busy)
        return await service.say(thread, text, parts=parts, options=options, id=id)

    async def _make_room(self, thread: str, on_busy: str) -> None:
        """Let a running thread take a message, or raise an error."""
        if on_busy not in ON_BUSY:
            raise Refused(f"onBusy is {on_busy!r}; known: {', '.join(ON_BUSY)}")
        if await self.status(thread) != "running":
            return
        setting = (await self.config(thread)).get("onBusy", ON_BUSY[0])
        if on_busy == "reject":
            raise Busy(f"thread {thread!r} is busy; wait, stop it, or set onBusy to interrupt")
        if on_busy == "interrupt" and setting != on_busy:
            await self.stop(thread)
            await self.runtime.wait_until(thread, lambda state: state.value != "running")
        elif on_busy != setting:
            raise Refused(
                f"thread {thread!r} is busy, and was created with onBusy {setting!r}; "
                f"create it with onBusy {on_busy!r}, or send the message with {setting!r} or 'interrupt'"
            )

    async def start(
        self, thread: str, text: str | None = None, *, id: str | None = None, plan: Mapping[str, Any] | None = None
    ) -> Receipt:
        """Start a thread: with its first message, with its task and maybe a plan, or, a debate, with its topic."""
        return await (await self._service(thread)).start(thread, text, id=id, plan=plan)

    async def permissions(self, id: str) -> list[StandingPermission]:
        """Return what was allowed in a thread for more than one call, by its settings or by a person."""
        kind = await self._check(id)
        return [] if kind is None else standing_permissions(self.library.kinds[kind].decisions(await self.snapshot(id)))

    async def revoke(self, id: str, permission: str, *, key: str | None = None) -> Receipt:
        """Take back a permission that lasts, by its id: the calls that it covered are asked about again.

        It holds at once, for agents at work too; a call that was made already is not stopped.
        Raise `UnknownPermission` if the thread does not have it.
        """
        if (earlier := await self._outcome(id, key)) is not None:
            return earlier
        override = find_permission(id, await self.permissions(id), permission).override
        return await self._perform(id, REVOKE[str(await self._check(id))], key, permission=override)

    async def stop(self, id: str, *, key: str | None = None) -> Receipt:
        """Stop the work of a thread; an event whose `key` was taken before is a `duplicate`, here and below."""
        return await self._outcome(id, key) or await (await self._service(id)).stop(id, key=key)

    async def set_mode(self, id: str, mode: str) -> None:
        """Let a mode of permission hold for a thread as long as this process."""
        await (await self._service(id)).set_mode(id, mode)

    async def pause(self, id: str, *, key: str | None = None) -> Receipt:
        """Pause a debate until it is resumed."""
        return await self._outcome(id, key) or await (await self._service(id)).pause(id, key=key)

    async def resume(self, id: str, *, key: str | None = None) -> Receipt:
        """Continue where a process was lost, or where the thread was stopped or paused."""
        return await self._outcome(id, key) or await (await self._service(id)).resume(id, key=key)

    async def retry(self, id: str, *, key: str | None = None) -> Receipt:
        """Repeat what failed: a request, or the turn of an agent."""
        return await self._outcome(id, key) or await (await self._service(id)).retry(id, key=key)

    async def perform(self, thread: str, action: str, *, id: str | None = None, **payload: Any) -> Json:
        """Send an event to the content of a thread, such as `rewind` of a chat; return the content afterwards."""
        if await self._outcome(thread, id) is not None:
            return (await self.library.read(thread)).content
        return await (await self._service(thread)).perform(thread, action, id=id, **payload)

    async def undo_plan(self, id: str, *, redo: bool = False) -> UndoPlan:
        """Return the steps that undo what tools changed for a thread, or with `redo` those that take back an undo."""
        undo = await self._undo_folder(id)
        return await asyncio.to_thread(undo.plan, id, redo=redo)

    async def undo(self, id: str, *, force: bool = False, redo: bool = False) -> UndoPlan:
        """Undo what tools changed for a thread, or with `redo` the last undo; return what was done.

        Raise `ChangedSince`, and change nothing, if files were changed by others since, unless `force` is set.
        """
        undo = await self._undo_folder(id)
        return await asyncio.to_thread(undo.undo, id, force=force, redo=redo)

    async def _undo_folder(self, id: str) -> UndoFolder:
        status = await self.status(id)
        if self.resources.undo is None:
            raise Refused("this app keeps no copies for undo; pass App(..., undo=UndoFolder(...))")
        if status == "running":
            raise Refused(f"thread {id!r} is running; stop it before its changes are undone")
        return self.resources.undo

    async def read(self, id: str) -> ThreadPage:
        """Read a thread with its content, its open requests, what it takes now, and the cursor to follow it from."""
        await self._find(id)
        return await read_page(self.runtime, self.library, id)

    async def usage(self, id: str) -> dict[str, Any]:
        """Return the cost of a thread in USD, and the figures that its kind keeps about tokens, costs and limits."""
        await self._find(id)
        return usage_of(await self.library.read(id))

    async def can(self, id: str) -> dict[str, tuple[str, ...]]:
        """Return the events that are taken now, by the address of the actor: the thread, and its content.

        Guards that look at the keys of an event are not tested: whether they let it pass is known when it is sent.
        """
        return await acceptable(self.runtime, id, await self._check(id))

    async def _service(self, id: str) -> ThreadService:
        kind = await self._check(id)
        if kind is None:
            raise Refused(f"thread {id!r} has no kind; send it events of the thread machine with send")
        return self._services[kind]
