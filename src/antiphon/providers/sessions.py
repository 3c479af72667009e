"""Sessions of models: what a conversation holds at its provider from its first request until it is closed."""

import asyncio
from dataclasses import dataclass

from antiphon.providers.base import Provider
from antiphon.providers.registry import Models


@dataclass(frozen=True, slots=True)
class Session:
    """An open session: its model, opened once for all its requests, and the server or process that it uses."""

    id: str
    reference: str
    provider: Provider
    server: str


class Sessions:
    """The open sessions of a process, by id.

    A session is opened by the first request that names it. When the last session of a server is closed, what was kept
    for them is released: idle connections, or the child process of a local model.
    """

    __slots__ = ("_by_id", "_closing", "_models")

    def __init__(self, models: Models) -> None:
        self._models = models
        self._by_id: dict[str, Session] = {}
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def ids(self) -> list[str]:
        """Ids of the open sessions."""
        return list(self._by_id)

    def open(self, id: str, reference: str) -> Provider:
        """Return the model of a session, which is opened if it is not, or if it had another model."""
        session = self._by_id.get(id)
        if session is None or session.reference != reference:
            session = Session(id, reference, self._models.open_unshared(reference), self._models.server_of(reference))
            self._by_id[id] = session
        return session.provider

    async def close(self, id: str) -> None:
        """Close a session; one that is not open is closed already."""
        session = self._by_id.pop(id, None)
        if session is not None and all(other.server != session.server for other in self._by_id.values()):
            await self._models.release(session.reference)

    def close_soon(self, id: str) -> None:
        """Close a session in the background; `wait_closed` waits for it."""
        closing = asyncio.get_running_loop().create_task(self.close(id))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def wait_closed(self) -> None:
        """Wait for the sessions that are being closed."""
        await asyncio.gather(*self._closing)
