"""A window of this machine: a client of the server of a store, which starts the server again if it has ended.

1. While a window is open, a stream to its server is open, so that the server does not end as an idle one.
2. A server that has ended, whatever the reason, is started again before the next request. The new one is told what the
   former knew of this window: its keys, prices and MCP servers, and what it has given to threads.
3. Requests and streams go on where they were, because each has a key or a cursor. Threads that were running are
   interrupted; the screen that follows one resumes it when `restarts` has changed.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

from antiphon.client.client import Client
from antiphon.client.errors import ServerUnreachable
from antiphon.client.feed import EventDecoder
from antiphon.client.local import ensure_server
from antiphon.client.problems import error_of, read_problem
from antiphon.client.starting import LocalServerError, log_path

MOST_RESTARTS = 5  # of a server within RESTARTS_S
RESTARTS_S = 60.0
OPEN = "open"
PROBLEM = "problem"


def _say_nothing(text: str) -> None:
    """Leave a message unsaid."""


class WindowClient(Client):
    """Client of the server of a store on this machine.

    `opening` has the MCP servers and the prices of the window (`POST /local/window`); without it, the window is not
    held open. `on_restart` gets a line when another server continues.
    """

    def __init__(self, path: Path, store: Path, *, opening: Mapping[str, Any] | None = None) -> None:
        super().__init__(path)
        self.restarts = 0
        self.tools: list[dict[str, Any]] = []
        self.problems: tuple[str, ...] = ()
        self.on_restart: Callable[[str], None] = _say_nothing
        self._store = store
        self._opening = opening
        self._server: tuple[int, int] | None = None  # its process and the time of its start
        self._times: list[float] = []
        self._holding: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        try:
            self._server = await self._register()
        except BaseException:
            await self._close()
            raise
        self.connection.renew = self._renew
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        await self._release()
        await self.connection.close()

    async def join(self, thread: str, *, folder: Path | None = None) -> None:
        """Work on a thread: with the keys and MCP servers of this window, and maybe in another folder."""
        await self.threads.grants.give(thread, **({} if folder is None else {"workspace": str(folder)}))

    async def _register(self) -> tuple[int, int]:
        """Tell a server what it has to know of this window; return its process and the time of its start."""
        server = await self.connection.get("/local", patience_s=0)
        self.version = server["version"]
        keys = {name: os.environ[name] for name in server["keys"] if os.environ.get(name)}
        if keys:
            await self.connection.request("PUT", "/local/keys", body={"keys": keys}, is_repeatable=True, patience_s=0)
        if self._opening is not None:
            await self._hold(self._opening)
        return server["pid"], server["startedAt"]

    async def _hold(self, opening: Mapping[str, Any]) -> None:
        """Open the stream that is open as long as this window, and wait until its MCP servers have started."""
        await self._release()
        opened: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._holding = asyncio.create_task(self._read(opening, opened))
        facts = await opened
        self.tools = facts["tools"]
        self.problems = tuple(f"{problem['server']}: {problem['message']}" for problem in facts["problems"])

    async def _read(self, opening: Mapping[str, Any], opened: "asyncio.Future[dict[str, Any]]") -> None:
        decoder = EventDecoder()
        error: Exception = ServerUnreachable(self.connection.address, "it closed the connection")
        try:
            async with self.connection.stream("/local/window", body=dict(opening)) as response:
                async for chunk in response.aiter_raw():
                    for event in decoder.feed(chunk):
                        if event.name == OPEN:
                            opened.set_result(json.loads(event.data))
                        elif event.name == PROBLEM:
                            error = error_of(read_problem(500, event.data.encode()))
        except httpx2.TransportError as lost:
            error = ServerUnreachable(self.connection.address, str(lost) or type(lost).__name__)
        except Exception as problem:
            error = problem
        finally:
            self.connection.is_lost = True
            if not opened.done():
                opened.set_exception(error)
                opened.exception()  # marks it as retrieved, because the caller may have been cancelled

    async def _release(self) -> None:
        if self._holding is not None:
            self._holding.cancel()
            with suppress(asyncio.CancelledError):
                await self._holding
            self._holding = None

    async def _renew(self) -> None:
        """Find the server, or start it again; tell another one than before what it has to know."""
        former = self._server
        try:
            await ensure_server(self._store)
            about = await self.connection.get("/local", patience_s=0)
            if (about["pid"], about["startedAt"]) != former or self._is_unheld:
                self._server = await self._register()
                await self.threads.grants.repeat()
        except LocalServerError as error:
            raise ServerUnreachable(self.connection.address, str(error)) from error
        except ServerUnreachable:
            return  # it has ended again; the request finds out, and waits before the next attempt
        self.connection.is_lost = False
        if former is not None and self._server is not None and self._server != former:
            self._count_restart()
            self.on_restart(
                f"the server of this store (process {former[0]}) has ended; process {self._server[0]} continues"
            )

    @property
    def _is_unheld(self) -> bool:
        return self._opening is not None and (self._holding is None or self._holding.done())

    def _count_restart(self) -> None:
        self.restarts += 1
        now = time.monotonic()
        self._times = [*(at for at in self._times if now - at < RESTARTS_S), now]
        if len(self._times) > MOST_RESTARTS:
            reason = f"it has ended once too often within {RESTARTS_S:g} seconds; see {log_path(self._store)}"
            raise ServerUnreachable(self.connection.address, reason)
