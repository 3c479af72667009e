"""The tools of all configured MCP servers: listed once, called by name, never in the way of a run."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.tools.errors import NotInstalled
from antiphon.tools.mcp.config import Server
from antiphon.tools.mcp.names import qualified_names
from antiphon.tools.mcp.server import ServerConnection, ToolServer


@dataclass(frozen=True, slots=True)
class ServerProblem:
    """A server that cannot be used now, and why."""

    server: str
    message: str


class McpTools:
    """Tools of MCP servers, from `async with` until its end.

    A server that does not start has no tools and a problem; one that dies or hangs later gives a result that says so.
    """

    __slots__ = ("_found", "_servers", "_settings", "tools")

    def __init__(self, servers: Sequence[Server], *, environment: Mapping[str, str] | None = None) -> None:
        chosen = os.environ if environment is None else environment
        self.tools: tuple[Tool, ...] = ()
        self._settings = (tuple(servers), chosen)
        self._servers: tuple[ToolServer, ...] = ()
        self._found: dict[str, tuple[ToolServer, str]] = {}

    def __repr__(self) -> str:
        names = ", ".join(server.name for server in self._settings[0])
        return f"McpTools({names}; {len(self.tools)} tools, {len(self.problems)} problems)"

    async def __aenter__(self) -> Self:
        new_line = _library()
        settings, environment = self._settings
        self._servers = tuple(ToolServer(one, environment, new_line) for one in settings)
        try:
            async with asyncio.TaskGroup() as starting:
                for server in self._servers:
                    starting.create_task(server.start())
        except BaseException:
            await self._close()
            raise
        self._index()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    @property
    def problems(self) -> tuple[ServerProblem, ...]:
        """What is wrong with which server now."""
        return tuple(ServerProblem(one.name, one.problem) for one in self._servers if one.problem is not None)

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool; whatever goes wrong is a result with `is_error`."""
        found = self._found.get(call.name)
        if found is None:
            return ToolResult.of(call, f"There is no tool {call.name!r}.", is_error=True)
        server, tool = found
        return await server.call(tool, call)

    def _index(self) -> None:
        listed = {(server.name, tool.name): (server, tool) for server in self._servers for tool in server.tools}
        names = qualified_names(listed)
        self._found = {names[pair]: (server, tool.name) for pair, (server, tool) in listed.items()}
        self.tools = tuple(replace(tool, name=names[pair]) for pair, (_, tool) in listed.items())

    async def _close(self) -> None:
        # Not a task group: the end of one server must not wait for, nor be stopped by, that of another.
        await asyncio.gather(*(server.close() for server in self._servers), return_exceptions=True)


def _library() -> Callable[[], ServerConnection]:
    try:
        # Loading it takes most of a second, which only those pay who have servers.
        from antiphon.tools.mcp.connection import Connection
    except ModuleNotFoundError as missing:
        raise NotInstalled(f"tools of MCP servers need {missing.name}: pip install 'antiphon[mcp]'") from None
    return Connection
