"""Threads of all kinds behind one set of methods; each call is passed to the service of the thread's kind."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from antiphon.runtime.doors import Doors
from antiphon.runtime.records import Receipt
from antiphon.threads.errors import Refused
from antiphon.threads.kinds import Json
from antiphon.threads.library import Library
from antiphon.threads.resources import Resources
from antiphon.threads.service import ThreadService

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

        Models, agents and tools are checked before anything is stored; `owner` is a text of the caller's own.
        """
        if kind not in self._create_kind:
            raise Refused(f"there is no kind {kind!r}; known: {', '.join(self._create_kind)}")
        return await self._create_kind[kind](title=title, owner=owner, **settings)

    async def begin(self, thread: str, *, id: str | None = None, **payload: Any) -> Receipt:
        """Start, continue, answer or restart a thread, depending on its status; raise `Busy` if it takes no message."""
        return await (await self._service(thread)).begin(thread, id=id, **payload)

    async def say(
        self, thread: str, text: str = "", *, parts: Sequence[Mapping[str, Any]] | None = None, id: str | None = None
    ) -> Receipt:
        """Send a person's message: to a chat, to a run, whose first one is its task, or as interjection in a debate."""
        return await (await self._service(thread)).say(thread, text, parts=parts, id=id)

    async def start(self, thread: str, text: str | None = None, *, id: str | None = None) -> Receipt:
        """Start a thread: with its first message, with its task, or, a debate, with the topic of its settings."""
        return await (await self._service(thread)).start(thread, text, id=id)

    async def stop(self, id: str) -> Receipt:
        """Stop the work of a thread."""
        return await (await self._service(id)).stop(id)

    async def pause(self, id: str) -> Receipt:
        """Pause a debate until it is resumed."""
        return await (await self._service(id)).pause(id)

    async def resume(self, id: str) -> Receipt:
        """Continue where a process was lost, or where the thread was stopped or paused."""
        return await (await self._service(id)).resume(id)

    async def retry(self, id: str) -> Receipt:
        """Repeat what failed: a request, or the turn of an agent."""
        return await (await self._service(id)).retry(id)

    async def perform(self, thread: str, action: str, *, id: str | None = None, **payload: Any) -> Json:
        """Send an event to the content of a thread, such as `rewind` of a chat; return the content afterwards."""
        return await (await self._service(thread)).perform(thread, action, id=id, **payload)

    async def _service(self, id: str) -> ThreadService:
        kind = await self._check(id)
        if kind is None:
            raise Refused(f"thread {id!r} has no kind; send it events of the thread machine with send")
        return self._services[kind]
