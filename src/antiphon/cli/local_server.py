"""The side of `antiphon serve` for windows of this machine: taking a store over, its tools, keys and models."""

import argparse
import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.app import App
from antiphon.cli.frame import UsageError
from antiphon.cli.server_settings import owner_limits
from antiphon.client import local as windows
from antiphon.paths import store_files, undo_path
from antiphon.runtime.errors import StoreBusy
from antiphon.threads.toolbox import Toolbox
from antiphon.tools.undo.folder import UndoFolder

if TYPE_CHECKING:
    from antiphon.server.local import LocalServer, Mode

BUSY_S = 10.0  # the longest wait for a server that ends and releases the store
SHORT_S = 1.0  # the wait for any other process
POLL_S = 0.02


class ServedElsewhere(Exception):
    """Another process serves the store for windows of this machine, so this one is not needed."""


def open_local(stack: AsyncExitStack, store: Path, mode: "Mode", others: Toolbox | None) -> "LocalServer":
    """Return the side of a server for windows of this machine, without a store."""
    from antiphon.server.folders import Folders
    from antiphon.server.local import LocalServer

    try:
        path = windows.socket_path(store)
    except windows.LocalServerError as error:
        raise UsageError(str(error)) from error
    undo = stack.enter_context(UndoFolder(undo_path()))
    folders = Folders(others, undo=undo, hidden=(*store_files(store), path.parent))
    stack.callback(folders.close)
    return LocalServer(path, store.resolve(), mode, folders)


async def open_app(
    stack: AsyncExitStack,
    options: argparse.Namespace,
    store: Path,
    toolbox: Toolbox | None,
    local: "LocalServer | None",
    *,
    is_free: bool = False,
) -> App:
    """Open the app of a server; with windows of this machine, their keys are used, and their tools in their folders.

    `is_free` lets them name models by files and addresses as well.
    """
    from antiphon.providers.registry import Models
    from antiphon.server.models import ServedModels, WindowModels
    from antiphon.server.windows import WindowKeys

    limits = owner_limits(options)
    if local is None:
        served = Models() if options.any_model else ServedModels()
        return await stack.enter_async_context(
            App(store, models=served, toolbox=toolbox, limits=limits, window_ms=options.window_ms)
        )
    keys = WindowKeys(local.windows)
    folders = local.folders

    def make() -> App:
        models = Models(keys=keys) if is_free or options.any_model else WindowModels(keys=keys)
        return App(store, models=models, toolbox=folders, undo=folders.undo, limits=limits, window_ms=options.window_ms)

    return await stack.enter_async_context(own_store(make, local))


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


def is_used_by_windows() -> bool:
    """Return whether commands of this environment look for a server on a socket."""
    return windows.is_enabled(os.environ)
