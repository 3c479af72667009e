"""Folders of threads: tools that run in the folder of the window that has created a thread.

1. The folder of a thread is a setting that only a window of this machine can give it, when it is created. It is stored
   with the thread, so that it holds after a restart.
2. A thread that was imported or restored brings no folder along: a window gives it one as long as the server runs.
3. The tools of the MCP servers of a window are added for the threads that it works on.
4. The tools of a folder are opened by the first call in it, shared by its threads, and closed when nothing has used
   them for a while.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from antiphon.messages import ToolCall, ToolResult
from antiphon.paths import undo_path
from antiphon.providers.base import Tool
from antiphon.runtime.histories import HistoryIds, is_continued
from antiphon.runtime.records import Origin
from antiphon.server.windows.servers import WindowServers
from antiphon.threads.toolbox import NoTools, Toolbox
from antiphon.tools.errors import ToolsError
from antiphon.tools.undo.folder import UndoFolder
from antiphon.tools.workspace import Workspace

UNUSED_S = 60.0  # until the tools of a folder are closed
UNDO_S = 1.0  # until other processes may undo what a thread has done
WORKSPACE = "workspace"


@dataclass(slots=True)
class _OpenFolder:
    """Tools of a folder, and the number of calls that use them."""

    workspace: Workspace
    tools: Toolbox
    uses: int = 0
    closing: asyncio.TimerHandle | None = None


class _Unusable:
    """Toolbox of a thread whose tools cannot be called, and why."""

    tools: tuple[Tool, ...] = ()

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def call(self, call: ToolCall) -> ToolResult:
        """Return an error result with the reason."""
        return ToolResult.of(call, self._reason, is_error=True)


class Folders:
    """Toolbox whose tools run in the folder of the thread that calls them.

    Threads without a folder have the tools of `others`, if there are any.
    """

    def __init__(
        self, others: Toolbox | None = None, *, undo: UndoFolder | None = None, hidden: Sequence[str | Path] = ()
    ) -> None:
        self.others = others or NoTools()
        self.undo = undo
        self.servers: WindowServers | None = None
        self._hidden = tuple(str(path) for path in hidden)
        self._given: dict[str, Path] = {}
        self._open: dict[Path, _OpenFolder] = {}
        self._releasing: dict[str, asyncio.TimerHandle] = {}
        self._tools: tuple[Tool, ...] | None = None
        self.read_origin: Callable[[str], Awaitable[Origin]] | None = None

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools of every folder, and those of the MCP servers of the window that asks."""
        return (*self.folder_tools, *self.server_tools)

    @property
    def server_tools(self) -> Sequence[Tool]:
        """The tools of the MCP servers of the window that asks."""
        return () if self.servers is None else self.servers.tools

    @property
    def folder_tools(self) -> Sequence[Tool]:
        """The tools of every folder."""
        if self._tools is None:
            # Imported here because the tools are slow to load, and many threads use none.
            from antiphon.tools import workspace_tools

            with Workspace("/") as workspace:  # nothing is called in it
                self._tools = workspace_tools(workspace).tools
        return self._tools

    @property
    def open_folders(self) -> list[Path]:
        """Folders whose tools are open."""
        return list(self._open)

    async def call(self, call: ToolCall) -> ToolResult:
        """Return an error result: a call is made by the toolbox of its thread."""
        return await self.others.call(call)

    def give(self, thread: str, folder: Path) -> None:
        """Let the tools of a thread run in a folder as long as this server runs."""
        self._given[thread] = folder

    def forget(self, thread: str) -> None:
        """Forget the folder that was given to a thread."""
        self._given.pop(thread, None)

    async def folder_of(self, thread: str) -> Path | None:
        """Return the folder of a thread, or None."""
        if thread in self._given or self.read_origin is None:
            return self._given.get(thread)
        origin = await self.read_origin(thread)
        if is_continued(HistoryIds(origin.history).current):
            return None
        folder = ((origin.input or {}).get("config") or {}).get(WORKSPACE)
        return Path(folder) if isinstance(folder, str) and Path(folder).is_absolute() else None

    @asynccontextmanager
    async def lease(self, thread: str) -> AsyncIterator[Toolbox]:
        """Yield the tools of a thread: those of its folder, which stay open meanwhile, and of its MCP servers."""
        async with self._lease_folder(thread) as box:
            yield box if self.servers is None else self.servers.add_to(box, thread)

    @asynccontextmanager
    async def _lease_folder(self, thread: str) -> AsyncIterator[Toolbox]:
        folder = await self.folder_of(thread)
        if folder is None:
            yield self.others
            return
        try:
            opened = self._take(folder)
        except ToolsError as error:
            yield _Unusable(f"The folder of this thread cannot be used: {error}.")
            return
        try:
            yield opened.tools
        finally:
            self._put_back(folder, opened)
            self._release_undo_later(thread)

    def _take(self, folder: Path) -> _OpenFolder:
        from antiphon.tools import ShellSettings, workspace_tools

        opened = self._open.get(folder)
        if opened is None:
            workspace = Workspace(folder, hidden=(*self._hidden, undo_path()))
            # Tools neither read nor change the store, wherever it is, and do not reach the socket.
            settings = ShellSettings(hidden=(*ShellSettings().hidden, *self._hidden))
            opened = _OpenFolder(workspace, workspace_tools(workspace, shell=settings, undo=self.undo))
            self._open[folder] = opened
        if opened.closing is not None:
            opened.closing.cancel()
            opened.closing = None
        opened.uses += 1
        return opened

    def _put_back(self, folder: Path, opened: _OpenFolder) -> None:
        opened.uses -= 1
        if not opened.uses:
            opened.closing = asyncio.get_running_loop().call_later(UNUSED_S, self._close, folder)

    def _close(self, folder: Path) -> None:
        self._open.pop(folder).workspace.close()

    def _release_undo_later(self, thread: str) -> None:
        """Close the undo log of a thread soon, so that the command that undoes its changes can open it."""
        if self.undo is None:
            return
        loop = asyncio.get_running_loop()
        timer = self._releasing.pop(thread, None)
        if timer is not None:
            timer.cancel()
        self._releasing[thread] = loop.call_later(UNDO_S, self._release_undo, loop, thread)

    def _release_undo(self, loop: asyncio.AbstractEventLoop, thread: str) -> None:
        self._releasing.pop(thread, None)
        if self.undo is not None:
            loop.run_in_executor(None, self.undo.release, thread)

    def close(self) -> None:
        """Close all folders."""
        for timer in self._releasing.values():
            timer.cancel()
        self._releasing.clear()
        for folder, opened in list(self._open.items()):
            if opened.closing is not None:
                opened.closing.cancel()
            self._close(folder)
