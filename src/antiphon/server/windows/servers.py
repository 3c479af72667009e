"""MCP servers of windows: started by this process, with the environment and in the folder of a window.

1. A window names its servers when it opens: the person in it has trusted them.
2. They run while the window is open, and after that as long as a thread that the window has worked on is running.
3. A thread has the servers of the window that worked on it last, among those that have servers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from antiphon.providers.base import Tool
from antiphon.server.windows.keys import WINDOW, Windows
from antiphon.threads.toolbox import Toolbox
from antiphon.tools.mcp.config import Server
from antiphon.tools.mcp.toolbox import McpTools
from antiphon.tools.toolboxes import Bundle

WaitUntilUnused = Callable[[Sequence[str]], Awaitable[None]]
"""Waits until none of some threads is running."""


class WindowServers:
    """The MCP servers of all windows, by the names of the windows."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._open: dict[str, McpTools] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"WindowServers({len(self._open)} windows)"

    async def open(self, window: str, servers: Sequence[Server], environment: Mapping[str, str]) -> McpTools:
        """Start the servers of a window in place of those it had; one that does not start is among their problems."""
        tools = McpTools(servers, environment=environment)
        await tools.__aenter__()
        former = self._open.pop(window, None)
        self._open[window] = tools
        if former is not None:
            await former.__aexit__(None, None, None)
        return tools

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools of the servers of the window that asks."""
        tools = self._open.get(WINDOW.get() or "")
        return () if tools is None else tools.tools

    def add_to(self, box: Toolbox, thread: str) -> Toolbox:
        """Return a toolbox with the tools of a thread's servers, if it has any."""
        tools = self.of_thread(thread)
        return box if tools is None else Bundle(box, tools)

    def of_thread(self, thread: str) -> McpTools | None:
        """Return the servers of the window that worked on a thread last, or None."""
        return next((self._open[name] for name in self._windows.windows_of(thread) if name in self._open), None)

    def end_when_unused(self, window: str, tools: McpTools, wait: WaitUntilUnused) -> None:
        """End the servers of a window that is closed, once no thread that it has worked on is running."""
        task = asyncio.create_task(self._end(window, tools, wait))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, window: str, tools: McpTools, wait: WaitUntilUnused) -> None:
        await wait([thread for thread in self._windows.threads_of(window) if self.of_thread(thread) is tools])
        if self._open.get(window) is tools:
            del self._open[window]
            await tools.__aexit__(None, None, None)

    async def close(self) -> None:
        """End all servers."""
        for task in list(self._ending):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        opened = list(self._open.values())
        self._open.clear()
        await asyncio.gather(*(tools.__aexit__(None, None, None) for tools in opened))
