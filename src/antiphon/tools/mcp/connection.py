"""Connection to a running server; with `process.py` and `contents.py` the only modules that use the MCP library.

The library must be entered and left by the same task, so each connection has a task that owns it.
Calls run in their own tasks: a caller that is cancelled or times out continues at once, and the library
still tells the server that the call was cancelled.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Any, TypeVar

import mcp_types
from mcp import Client, MCPError
from mcp.client import Transport
from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from antiphon.messages import Text
from antiphon.providers.base import Tool
from antiphon.tools.errors import ServerError, ServerGone, ServerSilent
from antiphon.tools.mcp.config import AddressServer, CommandServer, Server, ServerLimits, Trust, fill_variables
from antiphon.tools.mcp.contents import clean_text, is_bounded, result_parts
from antiphon.tools.mcp.process import ServerCommand, ServerOutput, process_streams
from antiphon.tools.mcp.server import CallOutput
from antiphon.tools.risks import Risk

MAX_PAGES = 100
MAX_TOOLS = 1_000
MAX_DESCRIPTION = 8_000
MAX_TOOL_NAME = 256
MAX_SCHEMA = 100_000  # characters as JSON
MAX_SCHEMA_DEPTH = 50
MAX_EVENT = 16 * 1024 * 1024
# Shorter values are ordinary words, not keys.
MIN_SECRET = 6
MAX_PROBE_MS = 5_000
CLOSE_S = 10.0
Result = TypeVar("Result")
UNKNOWN = "it is unknown whether the call had an effect"
CLIENT_INFO = mcp_types.Implementation(name="antiphon", version=version("antiphon"))


class Connection:
    """Connection to one run of a server; it is opened and closed once."""

    __slots__ = ("_client", "_closing", "_opened", "_output", "_owner", "_requests", "_secrets", "gone", "silent")

    def __init__(self) -> None:
        self.gone = False
        # A call timed out: the server is probed before the next one.
        self.silent = False
        self._client: Client | None = None
        self._opened: asyncio.Future[tuple[Tool, ...]] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None
        self._requests: set[asyncio.Task[Any]] = set()
        self._output = ServerOutput()
        self._secrets: list[str] = []

    async def open(self, server: Server, environment: Mapping[str, str]) -> tuple[Tool, ...]:
        """Start the server and return its tools, under its own names."""
        self._owner = asyncio.create_task(self._run(server, environment), name=f"mcp {server.name}")
        try:
            async with asyncio.timeout(server.limits.start_ms / 1000):
                return await asyncio.shield(self._opened)
        except TimeoutError:
            await self.close()
            raise ServerSilent(self._describe(f"it did not start within {server.limits.start_ms} ms")) from None
        except BaseException:
            await self.close()
            raise

    async def call(self, tool: str, arguments: dict[str, Any], limits: ServerLimits) -> CallOutput:
        """Call a tool of the server."""
        if self._client is None or self.gone:
            raise ServerGone("it is not running")
        try:
            result = await self._send(self._client.call_tool(tool, arguments), limits.call_ms)
        except ServerSilent:
            self.silent = True
            raise
        parts = result_parts(result, limits.most_characters)
        return tuple(Text(self.hide(part.text)) if isinstance(part, Text) else part for part in parts), result.is_error

    async def answers(self, within_ms: int) -> bool:
        """Return whether the server still responds to a cheap request."""
        if self._client is None or self.gone:
            return False
        try:
            await self._send(self._client.list_tools(), min(MAX_PROBE_MS, within_ms))
        except ServerError:
            return False
        self.silent = False
        return True

    async def close(self) -> None:
        """End the server, within a time limit."""
        self.gone = True
        if self._owner is None:
            return
        if self._client is None and not self._closing.is_set():
            # Only once: a second cancellation would interrupt the clean-up of the library.
            self._owner.cancel()
        self._closing.set()
        _, unfinished = await asyncio.wait({self._owner}, timeout=CLOSE_S)
        if unfinished:
            self._owner.cancel()
            await asyncio.wait(unfinished, timeout=CLOSE_S)

    def hide(self, text: str) -> str:
        """Redact the values of environment variables in a text."""
        for value in self._secrets:
            text = text.replace(value, "[hidden]")
        return text

    async def _run(self, server: Server, environment: Mapping[str, str]) -> None:
        try:
            async with AsyncExitStack() as stack:
                client = await self._enter(server, environment, stack)
                tools = await _list_tools(client, server.trust)
                self._client = client
                self._set_opened(tools)
                await self._closing.wait()
        except asyncio.CancelledError:
            self._set_opened(ServerGone("its start was interrupted"))
        except Exception as error:  # whatever the library, its transports and their task groups may raise
            self._set_opened(ServerGone(self._describe(_reason(error))))
        finally:
            self.gone = True

    async def _enter(self, server: Server, environment: Mapping[str, str], stack: AsyncExitStack) -> Client:
        transport: Transport
        match server:
            case CommandServer():
                command = self._command(server, environment)
                transport = process_streams(command, self._output, self._ended)
            case AddressServer():
                headers = {name: self._fill(text, environment) for name, text in server.headers.items()}
                http = await stack.enter_async_context(create_mcp_http_client(headers))
                url = self._fill(server.url, environment)
                transport = streamable_http_client(url, http_client=http, max_sse_event_size=MAX_EVENT)
        return await stack.enter_async_context(Client(transport, cache=None, client_info=CLIENT_INFO))

    def _command(self, server: CommandServer, environment: Mapping[str, str]) -> ServerCommand:
        inherited = {name: environment[name] for name in DEFAULT_INHERITED_ENV_VARS if name in environment}
        configured = {name: self._fill(text, environment) for name, text in server.env.items()}
        words = (server.command, *(self._fill(word, environment) for word in server.args))
        return ServerCommand(words, inherited | configured, server.cwd)

    def _fill(self, template: str, environment: Mapping[str, str]) -> str:
        try:
            text, values = fill_variables(template, environment)
        except KeyError as missing:
            raise ServerError(f"the environment variable {missing} is not set") from None
        self._secrets += [value for value in values if len(value) >= MIN_SECRET]
        return text

    def _set_opened(self, outcome: tuple[Tool, ...] | ServerError) -> None:
        if self._opened.done():
            return
        if isinstance(outcome, ServerError):
            self._opened.set_exception(outcome)
            # Marks the exception as retrieved, because the caller may have been cancelled.
            self._opened.exception()
        else:
            self._opened.set_result(outcome)

    async def _send(self, request: Coroutine[Any, Any, Result], within_ms: int) -> Result:
        task = asyncio.create_task(request)
        self._requests.add(task)
        task.add_done_callback(self._forget)
        try:
            await asyncio.wait({task}, timeout=within_ms / 1000)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done():
            task.cancel()
            raise ServerSilent(f"it did not respond within {within_ms} ms; {UNKNOWN}")
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            return task.result()
        if isinstance(error, asyncio.CancelledError) or _is_closed(error):
            self.gone = True
            raise ServerGone(self._describe(f"it ended during the call; {UNKNOWN}"))
        raise ServerError(self._describe(_reason(error)))

    def _ended(self) -> None:
        self.gone = True

    def _describe(self, problem: str) -> str:
        last_line = self._output.line
        return self.hide(f"{problem}; its last output: {last_line!r}" if last_line else problem)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._requests.discard(task)
        if not task.cancelled():
            # Marks the exception as retrieved, because the caller may have been cancelled.
            task.exception()


async def _list_tools(client: Client, trust: Trust) -> tuple[Tool, ...]:
    tools: dict[str, Tool] = {}
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            offered = _offered_tool(tool, trust)
            if offered is not None:
                tools.setdefault(tool.name, offered)
        cursor = page.next_cursor
        if cursor is None or len(tools) >= MAX_TOOLS:
            break
    return tuple(tools.values())[:MAX_TOOLS]


def _offered_tool(tool: mcp_types.Tool, trust: Trust) -> Tool | None:
    """Return a tool within limits; None if its name or its schema exceeds them, because neither can be cut."""
    schema = {"type": "object", **tool.input_schema}
    if len(tool.name) > MAX_TOOL_NAME or not is_bounded(schema, MAX_SCHEMA, MAX_SCHEMA_DEPTH):
        return None
    description = clean_text(tool.description or tool.title or tool.name, MAX_DESCRIPTION)
    return Tool(tool.name, description, schema, _risk(tool.annotations, trust))


def _risk(annotations: mcp_types.ToolAnnotations | None, trust: Trust) -> Risk:
    """Return the risk of a tool: as its server declares it, if the person trusts the server, else the highest."""
    if trust != "hints" or annotations is None or annotations.destructive_hint:
        return "destructive"
    if annotations.read_only_hint:
        return "read"
    return "write" if annotations.destructive_hint is False else "destructive"


def _is_closed(error: BaseException) -> bool:
    return isinstance(error, MCPError) and error.code == mcp_types.CONNECTION_CLOSED


def _reason(error: BaseException) -> str:
    # Task groups wrap errors; the first inner error is the cause.
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if _is_closed(error):
        return "it ended before it responded"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}{f': {error.filename}' if error.filename else ''}"
    return str(error) or type(error).__name__
