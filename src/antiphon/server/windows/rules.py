"""Rules of requests that only windows of this machine may make: routes, folders, and threads that have one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from starlette.requests import Request

from antiphon.providers.base import Tool
from antiphon.runtime.errors import RuntimeFault
from antiphon.server.access import SAFE
from antiphon.server.context import Context, ServerContext
from antiphon.server.parameters import Depends
from antiphon.server.problems import ProblemError
from antiphon.server.windows.folders import WORKSPACE
from antiphon.server.windows.keys import IS_LOCAL
from antiphon.server.windows.local import LocalServer, is_local
from antiphon.threads import MODES

MODE = "mode"
MCP = "mcp"
# Changes of a thread that let no tool run.
HARMLESS = ("stop", "pause", "archive", "unarchive")
CHANGING = ("threads", "actors")
NO_SOCKET = "this is for windows of the server's machine, over its socket"


async def find_local(request: Request, context: Context) -> LocalServer:
    """Return the local side of the server for a request over its socket; raise `ProblemError` for any other."""
    if not is_local(request.scope) or context.local is None:
        raise ProblemError("not_allowed", NO_SOCKET)
    return context.local


Local = Annotated[LocalServer, Depends(find_local)]


async def check_remote_change(context: ServerContext, method: str, path: str) -> None:
    """Raise `ProblemError` if a request over TCP would let the tools of a folder of this machine run.

    That of a user is checked once the thread is known to be the user's own: others learn nothing about it.
    """
    parts = path.strip("/").split("/")
    if context.local is None or method in SAFE or len(parts) < 3 or parts[0] not in CHANGING or parts[2] in HARMLESS:
        return
    await check_no_folder(context, parts[1])


async def check_no_folder(context: ServerContext, thread: str) -> None:
    """Raise `ProblemError` if a thread uses tools of a window: in a folder of this machine, or of its MCP servers.

    A thread without them may be continued over TCP, but no longer with the keys of windows.
    """
    if context.local is None:
        return
    if context.local.servers.of_thread(thread) is not None:
        raise ProblemError(
            "not_allowed",
            f"thread {thread!r} uses MCP servers of a terminal of the server's machine; continue it there",
        )
    try:
        folder = await context.local.folders.folder_of(thread)
    except RuntimeFault:
        return  # there is no such thread
    if folder is not None:
        raise ProblemError(
            "not_allowed",
            f"thread {thread!r} uses tools in a folder of the server's machine; continue it in a terminal there",
        )
    if not IS_LOCAL.get():
        context.local.windows.forget(thread)


def take_local_settings(body: dict[str, Any], *, is_window: bool) -> dict[str, Any]:
    """Return the settings of a new thread, with the folder and the mode of a window; refuse them over TCP."""
    settings = dict(body)
    mode = settings.pop(MODE, None)
    if not is_window:
        for name in (WORKSPACE, MODE, MCP):
            if name in body:
                raise ProblemError("not_allowed", f"{name}: {NO_SOCKET}")
        return settings
    if WORKSPACE in settings:
        settings[WORKSPACE] = str(check_folder(settings[WORKSPACE]))
    if mode is not None:
        settings["consent"] = {**(settings.get("consent") or {}), MODE: check_mode(mode)}
    return settings


def offered_tools(context: ServerContext, *, has_folder: bool) -> Sequence[Tool]:
    """Return the tools that a request may name: those of its folder, or of the operator's, and its MCP servers'."""
    if context.local is None:
        toolbox = context.app.chats.resources.toolbox
        return () if toolbox is None else toolbox.tools
    folders = context.local.folders
    return folders.tools if has_folder else (*folders.others.tools, *folders.server_tools)


def check_folder(text: str) -> Path:
    """Return the real path of a folder for tools; raise `ProblemError` if it is none."""
    if "\0" in text or not Path(text).is_absolute() or not Path(text).is_dir():
        raise ProblemError("bad_settings", f"workspace is {text!r}; it must be the absolute path of a folder")
    return Path(text).resolve()


def check_mode(mode: str) -> str:
    """Return a mode of permission; raise `ProblemError` if there is no such mode."""
    if mode not in MODES:
        raise ProblemError("bad_settings", f"mode is {mode!r}; it must be one of {', '.join(MODES)}")
    return mode
