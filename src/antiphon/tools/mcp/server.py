"""Lifecycle of an MCP server: started, called, restarted after it ended, and given up after too many restarts."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from antiphon.messages import Image, Text, ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.tools.errors import ServerError
from antiphon.tools.mcp.config import Server, ServerLimits

# The parts of a result, and whether the tool says that it failed.
CallOutput = tuple[tuple[Text | Image, ...], bool]


class ServerConnection(Protocol):
    """Connection to a running server."""

    gone: bool
    silent: bool

    async def open(self, server: Server, environment: Mapping[str, str]) -> tuple[Tool, ...]:
        """Start the server and return its tools."""
        ...

    async def call(self, tool: str, arguments: dict[str, Any], limits: ServerLimits) -> CallOutput:
        """Call a tool; raise `ServerError` if there is no response."""
        ...

    async def answers(self, within_ms: int) -> bool:
        """Return whether the server still responds."""
        ...

    async def close(self) -> None:
        """End the server."""
        ...


class ToolServer:
    """Configured server, across restarts of its process or connection."""

    __slots__ = (
        "_closed",
        "_connection",
        "_environment",
        "_factory",
        "_lock",
        "_restarts",
        "_settings",
        "problem",
        "tools",
    )

    def __init__(
        self, settings: Server, environment: Mapping[str, str], factory: Callable[[], ServerConnection]
    ) -> None:
        self.tools: tuple[Tool, ...] = ()
        # The current problem, or None.
        self.problem: str | None = None
        self._settings = settings
        self._environment = environment
        self._factory = factory
        self._connection: ServerConnection | None = None
        self._lock = asyncio.Lock()
        self._restarts = 0
        self._closed = False

    def __repr__(self) -> str:
        return f"ToolServer({self.name!r}, problem={self.problem!r})"

    @property
    def name(self) -> str:
        """Name in the configuration."""
        return self._settings.name

    async def start(self) -> None:
        """Start the server; if that fails, set `problem` and have no tools."""
        try:
            self.tools = await self._connect()
        except ServerError as error:
            self.problem = str(error)

    async def call(self, tool: str, call: ToolCall) -> ToolResult:
        """Call a tool; a failure is a result with `is_error`."""
        try:
            arguments = call.input()
        except ValueError as error:
            return ToolResult.of(call, f"The arguments are not valid: {error}", is_error=True)
        try:
            connection = await self._ensure_running()
            parts, failed = await connection.call(tool, arguments, self._settings.limits)
        except ServerError as error:
            return ToolResult.of(call, f"The tool server {self.name!r} failed: {error}", is_error=True)
        self._restarts = 0
        return ToolResult(call.id, parts, failed)

    async def close(self) -> None:
        """End the server permanently."""
        self._closed = True
        if self._connection is not None:
            await self._connection.close()

    async def _ensure_running(self) -> ServerConnection:
        # One caller restarts the server while the others wait.
        async with self._lock:
            connection = self._connection
            limits = self._settings.limits
            if connection is not None and await _is_usable(connection, limits):
                return connection
            if connection is not None:
                await connection.close()
            if self._closed:
                raise ServerError("it has been closed")
            if self._restarts >= limits.restarts:
                self.problem = f"given up after {_count(self._restarts, 'restart')} in a row"
                raise ServerError(self.problem)
            self._restarts += 1
            try:
                await self._connect()
            except ServerError as error:
                self.problem = str(error)
                raise
            self.problem = None
            assert self._connection is not None
            return self._connection

    async def _connect(self) -> tuple[Tool, ...]:
        connection = self._connection = self._factory()
        return await connection.open(self._settings, self._environment)


async def _is_usable(connection: ServerConnection, limits: ServerLimits) -> bool:
    return not connection.gone and (not connection.silent or await connection.answers(limits.call_ms))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
