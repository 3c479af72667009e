"""Windows of this machine at `antiphon serve`: the folders of their tools, and their socket."""

import logging
import os
import sys
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.cli.frame import UsageError
from antiphon.cli.render.plain import write
from antiphon.client import starting
from antiphon.paths import store_files, undo_path
from antiphon.threads.toolbox import Toolbox
from antiphon.tools.undo.folder import UndoFolder

if TYPE_CHECKING:
    from antiphon.server.windows.local import LocalServer, Mode


class ServedElsewhere(Exception):
    """Another process serves the store for windows of this machine, so this one is not needed."""


def open_local(stack: AsyncExitStack, store: Path, mode: "Mode", others: Toolbox | None) -> "LocalServer":
    """Return the side of a server for windows of this machine, without a store."""
    from antiphon.server.windows.folders import Folders
    from antiphon.server.windows.local import LocalServer

    try:
        path = starting.socket_path(store)
    except starting.LocalServerError as error:
        raise UsageError(str(error)) from error
    undo = stack.enter_context(UndoFolder(undo_path()))
    folders = Folders(others, undo=undo, hidden=(*store_files(store), path.parent))
    stack.callback(folders.close)
    local = LocalServer(path, store.resolve(), mode, folders)
    stack.push_async_callback(local.servers.close)
    return local


def say_ready() -> None:
    """Tell the window that has started this process that it listens; what is printed after that goes to the log."""
    with suppress(OSError):  # the window has ended
        write(sys.stdout, starting.READY)
    os.dup2(2, 1)


def is_used_by_windows() -> bool:
    """Return whether commands of this environment look for a server on a socket."""
    return starting.is_enabled(os.environ)


def open_windows(stack: AsyncExitStack, store: Path, toolbox: Toolbox | None) -> "LocalServer | None":
    """Return the side of the server for windows of this machine; None if they use none, or cannot."""
    if not is_used_by_windows():
        return None
    try:
        return open_local(stack, store, "serve", toolbox)
    except UsageError as error:
        logging.getLogger("antiphon.server").warning("terminals cannot use this server: %s", error)
        return None
