"""The life of one server: started, called, started again when it has died, given up when that does not help."""

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
    """A connection to a running server."""

    gone: bool
    silent: bool

    async def open(self, server: Server, environment: Mapping[str, str]) -> tuple[Tool, ...]:
        """Start the server and learn its tools."""
        ...

    async def call(self, tool: str, arguments: dict[str, Any], limits: ServerLimits) -> CallOutput:
        """Call a tool; `ServerError` when there is no answer."""
        ...

    async def answers(self, within_ms: int) -> bool:
        """Whether a silent server still lives."""
        ...

    async def close(self) -> None:
        """End the server."""
        ...


class ToolServer:
    """A configured server, whatever becomes of its processes and connections."""

    __slots__ = ("_closed", "_environment", "_line", "_lock", "_new_line", "_restarts", "_settings", "problem", "tools")

    def __init__(
        self, settings: Server, environment: Mapping[str, str], new_line: Callable[[], ServerConnection]
    ) -> None:
        self.tools: tuple[Tool, ...] = ()
        # What is wrong with it now, in a sentence.
        self.problem: str | None = None
        self._settings = settings
        self._environment = environment
        self._new_line = new_line
        self._line: ServerConnection | None = None
        self._lock = asyncio.Lock()
        self._restarts = 0
        self._closed = False

    def __repr__(self) -> str:
        return f"ToolServer({self.name!r}, problem={self.problem!r})"

    @property
    def name(self) -> str:
        """The name that the configuration gives it."""
        return self._settings.name

    async def start(self) -> None:
        """Start it for the first time; when that fails, `problem` says why and there are no tools."""
        try:
            self.tools = await self._connect()
        except ServerError as error:
            self.problem = str(error)

    async def call(self, tool: str, call: ToolCall) -> ToolResult:
        """The result of a call, also when there is none: then it says so, and is an error."""
        try:
            arguments = call.input()
        except ValueError as error:
            return ToolResult.of(call, f"The arguments cannot be read: {error}", is_error=True)
        try:
            line = await self._ensure_running()
            parts, failed = await line.call(tool, arguments, self._settings.limits)
        except ServerError as error:
            return ToolResult.of(call, f"The tool server {self.name!r} failed: {error}", is_error=True)
        self._restarts = 0
        return ToolResult(call.id, parts, failed)

    async def close(self) -> None:
        """End it for good."""
        self._closed = True
        if self._line is not None:
            await self._line.close()

    async def _ensure_running(self) -> ServerConnection:
        # One caller starts it again; the others wait for that instead of starting more of them.
        async with self._lock:
            line = self._line
            limits = self._settings.limits
            if line is not None and not line.gone and (not line.silent or await line.answers(limits.call_ms)):
                return line
            if line is not None:
                await line.close()
            if self._closed:
                raise ServerError("it has been closed")
            if self._restarts >= limits.restarts:
                self.problem = f"given up after {self._restarts} restarts in a row"
                raise ServerError(self.problem)
            self._restarts += 1
            try:
                await self._connect()
            except ServerError as error:
                self.problem = str(error)
                raise
            self.problem = None
            assert self._line is not None
            return self._line

    async def _connect(self) -> tuple[Tool, ...]:
        line = self._line = self._new_line()
        return await line.open(self._settings, self._environment)
