"""Taking a store over from the server that a window has started."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.app import App
from antiphon.cli.frame import UsageError
from antiphon.cli.serve.windows import ServedElsewhere
from antiphon.client import local as windows
from antiphon.runtime.errors import StoreBusy

if TYPE_CHECKING:
    from antiphon.server.windows.local import LocalServer

BUSY_S = 10.0  # the longest wait for a server that ends and releases the store
SHORT_S = 1.0  # the wait for any other process
POLL_S = 0.02


@asynccontextmanager
async def own_store(make: Callable[[], App], local: "LocalServer") -> AsyncIterator[App]:
    """Open an app once the store is free: a server that a window has started hands it over.

    Raise `ServedElsewhere` if this process would only do what another one does, and `StoreBusy` if it is not released.
    """
    async with AsyncExitStack() as stack:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        asked: int | None = None
        while True:
            app = make()
            try:
                await stack.enter_async_context(app)
                break
            except StoreBusy:
                owner = await windows.read_server(local.path)
                if owner is not None and local.mode == "local":
                    raise ServedElsewhere from None
                if owner is not None and owner.pid != asked:
                    await ask_to_hand_over(local.path, owner)
                    asked = owner.pid
                    begun = loop.time()
                # The socket of a server is there until it has released the store.
                elif loop.time() - begun > (BUSY_S if asked is not None or local.path.exists() else SHORT_S):
                    raise
            await asyncio.sleep(POLL_S)
        local.folders.read_origin = app.runtime.origin
        yield app


async def ask_to_hand_over(path: Path, owner: windows.ServerInfo) -> None:
    """Let the server that a window has started end; raise `UsageError` if the store is served by a person's choice."""
    if owner.mode != "local":
        raise UsageError(
            f"{owner.store} is served by process {owner.pid} already; use that server, or end it with: kill {owner.pid}"
        )
    try:
        await windows.request(path, "POST", "/local/hand-over", {})
    except (OSError, EOFError, ValueError, TimeoutError):
        return  # it has ended by itself
