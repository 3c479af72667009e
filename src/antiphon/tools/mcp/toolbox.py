"""Toolbox of all configured MCP servers."""

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
    """Server that cannot be used at the moment, with the reason."""

    server: str
    message: str


class McpTools:
    """Tools of MCP servers, available inside `async with`.

    A server that does not start has no tools and a problem; calls to one that ends or hangs later return an error.
    """

    __slots__ = ("_by_name", "_environment", "_servers", "_settings", "tools")

    def __init__(self, servers: Sequence[Server], *, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self.tools: tuple[Tool, ...] = ()
        self._settings = tuple(servers)
        self._servers: tuple[ToolServer, ...] = ()
        self._by_name: dict[str, tuple[ToolServer, str]] = {}

    def __repr__(self) -> str:
        names = ", ".join(server.name for server in self._settings)
        return f"McpTools({names}; {len(self.tools)} tools, {len(self.problems)} problems)"

    async def __aenter__(self) -> Self:
        factory = _load_connection()
        self._servers = tuple(ToolServer(server, self._environment, factory) for server in self._settings)
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
        """Servers that cannot be used at the moment."""
        return tuple(
            ServerProblem(server.name, server.problem) for server in self._servers if server.problem is not None
        )

    async def call(self, call: ToolCall) -> ToolResult:
        """Call a tool; a failure is a result with `is_error`."""
        target = self._by_name.get(call.name)
        if target is None:
            return ToolResult.of(call, f"There is no tool {call.name!r}.", is_error=True)
        server, tool = target
        return await server.call(tool, call)

    def _index(self) -> None:
        listed = {(server.name, tool.name): (server, tool) for server in self._servers for tool in server.tools}
        names = qualified_names(listed)
        self._by_name = {names[pair]: (server, tool.name) for pair, (server, tool) in listed.items()}
        self.tools = tuple(replace(tool, name=names[pair]) for pair, (_, tool) in listed.items())

    async def _close(self) -> None:
        # Not a task group: a failure to close one server must not cancel closing the others.
        await asyncio.gather(*(server.close() for server in self._servers), return_exceptions=True)


def _load_connection() -> Callable[[], ServerConnection]:
    try:
        # Imported here because it takes most of a second.
        from antiphon.tools.mcp.connection import Connection
    except ModuleNotFoundError as missing:
        raise NotInstalled(f"tools of MCP servers need {missing.name}: pip install 'antiphon[mcp]'") from None
    return Connection
