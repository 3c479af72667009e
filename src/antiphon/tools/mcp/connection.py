"""One connection to a running server; besides `process.py` and `contents.py` the only file that knows the MCP library.

The library wants to be entered and left by the same task, so each connection has a task that owns it.
Calls run in tasks of their own: a caller who is cancelled, or whose time is over, goes at once, and the library
still tells the server that nobody waits for the answer.
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
from antiphon.tools.mcp.config import AddressServer, CommandServer, Server, ServerLimits, fill_variables
from antiphon.tools.mcp.contents import result_parts
from antiphon.tools.mcp.process import ServerCommand, ServerOutput, process_streams
from antiphon.tools.mcp.server import CallOutput
from antiphon.tools.risk import Risk

MOST_PAGES = 100
MOST_TOOLS = 1_000
MOST_OF_A_DESCRIPTION = 8_000
MOST_OF_AN_EVENT = 16 * 1024 * 1024
# Shorter values are words that happen to be in the environment, not keys.
LEAST_SECRET = 6
MOST_PROBE_MS = 5_000
CLOSE_S = 10.0
Result = TypeVar("Result")
UNKNOWN = "whether the call had an effect is unknown"
WHO = mcp_types.Implementation(name="antiphon", version=version("antiphon"))


class Connection:
    """A server that runs and can be asked; made once, closed once, never opened again."""

    __slots__ = ("_asking", "_client", "_last_words", "_opened", "_over", "_owner", "_secrets", "gone", "silent")

    def __init__(self) -> None:
        self.gone = False
        # It did not answer a call in time: before the next one it has to show that it lives.
        self.silent = False
        self._client: Client | None = None
        self._opened: asyncio.Future[tuple[Tool, ...]] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None
        self._asking: set[asyncio.Task[Any]] = set()
        self._last_words = ServerOutput()
        self._secrets: list[str] = []

    async def open(self, server: Server, environment: Mapping[str, str]) -> tuple[Tool, ...]:
        """Start the server and learn its tools, under the names that it has for them itself."""
        self._owner = asyncio.create_task(self._own(server, environment), name=f"mcp {server.name}")
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
            result = await self._answer(self._client.call_tool(tool, arguments), limits.call_ms)
        except ServerSilent:
            self.silent = True
            raise
        parts = result_parts(result, limits.most_characters)
        return tuple(Text(self.hide(part.text)) if isinstance(part, Text) else part for part in parts), result.is_error

    async def answers(self, within_ms: int) -> bool:
        """Whether the server still answers a question that takes it no time."""
        if self._client is None or self.gone:
            return False
        try:
            await self._answer(self._client.list_tools(), min(MOST_PROBE_MS, within_ms))
        except ServerError:
            return False
        self.silent = False
        return True

    async def close(self) -> None:
        """End the server, in bounded time."""
        self.gone = True
        if self._owner is None:
            return
        if self._client is None and not self._over.is_set():
            # Once only: a second time would interrupt the library while it cleans up.
            self._owner.cancel()
        self._over.set()
        _, late = await asyncio.wait({self._owner}, timeout=CLOSE_S)
        if late:
            self._owner.cancel()
            await asyncio.wait(late, timeout=CLOSE_S)

    def hide(self, text: str) -> str:
        """A text without the values that came from the environment."""
        for value in self._secrets:
            text = text.replace(value, "[hidden]")
        return text

    async def _own(self, server: Server, environment: Mapping[str, str]) -> None:
        try:
            async with AsyncExitStack() as stack:
                client = await self._enter(server, environment, stack)
                tools = await _list_tools(client)
                self._client = client
                self._settle(tools)
                await self._over.wait()
        except asyncio.CancelledError:
            self._settle(ServerGone("its start was interrupted"))
        except Exception as error:  # whatever the library, its transports and their task groups may raise
            self._settle(ServerGone(self._describe(_reason(error))))
        finally:
            self.gone = True

    async def _enter(self, server: Server, environment: Mapping[str, str], stack: AsyncExitStack) -> Client:
        transport: Transport
        match server:
            case CommandServer():
                command = self._command(server, environment)
                transport = process_streams(command, self._last_words, self._ended)
            case AddressServer():
                headers = {name: self._fill(text, environment) for name, text in server.headers.items()}
                http = await stack.enter_async_context(create_mcp_http_client(headers))
                url = self._fill(server.url, environment)
                transport = streamable_http_client(url, http_client=http, max_sse_event_size=MOST_OF_AN_EVENT)
        return await stack.enter_async_context(Client(transport, cache=None, client_info=WHO))

    def _command(self, server: CommandServer, environment: Mapping[str, str]) -> ServerCommand:
        inherited = {name: environment[name] for name in DEFAULT_INHERITED_ENV_VARS if name in environment}
        given = {name: self._fill(text, environment) for name, text in server.env.items()}
        words = (server.command, *(self._fill(word, environment) for word in server.args))
        return ServerCommand(words, inherited | given, server.cwd)

    def _fill(self, template: str, environment: Mapping[str, str]) -> str:
        try:
            text, values = fill_variables(template, environment)
        except KeyError as missing:
            raise ServerError(f"it needs the variable {missing} of the environment, which is not set") from None
        self._secrets += [value for value in values if len(value) >= LEAST_SECRET]
        return text

    def _settle(self, outcome: tuple[Tool, ...] | ServerError) -> None:
        if self._opened.done():
            return
        if isinstance(outcome, ServerError):
            self._opened.set_exception(outcome)
            # Whoever asked may have gone; then nobody looks at it, which is no mistake.
            self._opened.exception()
        else:
            self._opened.set_result(outcome)

    async def _answer(self, question: Coroutine[Any, Any, Result], within_ms: int) -> Result:
        asking = asyncio.create_task(question)
        self._asking.add(asking)
        asking.add_done_callback(self._forget)
        try:
            await asyncio.wait({asking}, timeout=within_ms / 1000)
        except asyncio.CancelledError:
            asking.cancel()
            raise
        if not asking.done():
            asking.cancel()
            raise ServerSilent(f"it did not answer within {within_ms} ms; {UNKNOWN}")
        error = asyncio.CancelledError() if asking.cancelled() else asking.exception()
        if error is None:
            return asking.result()
        if isinstance(error, asyncio.CancelledError) or _is_closed(error):
            self.gone = True
            raise ServerGone(self._describe(f"it ended during the call; {UNKNOWN}"))
        raise ServerError(self._describe(_reason(error)))

    def _ended(self) -> None:
        self.gone = True

    def _describe(self, problem: str) -> str:
        last = self._last_words.line
        return self.hide(f"{problem}; its last words: {last!r}" if last else problem)

    def _forget(self, asking: asyncio.Task[Any]) -> None:
        self._asking.discard(asking)
        if not asking.cancelled():
            # Nobody may be left who looks at it, which is no mistake.
            asking.exception()


async def _list_tools(client: Client) -> tuple[Tool, ...]:
    found: dict[str, Tool] = {}
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            described = (tool.description or tool.title or tool.name)[:MOST_OF_A_DESCRIPTION]
            schema = {"type": "object", **tool.input_schema}
            found.setdefault(tool.name, Tool(tool.name, described, schema, _risk(tool.annotations)))
        cursor = page.next_cursor
        if cursor is None or len(found) >= MOST_TOOLS:
            break
    return tuple(found.values())[:MOST_TOOLS]


def _risk(annotations: mcp_types.ToolAnnotations | None) -> Risk:
    """What a server says of its tool; whoever configures a server trusts it, and silence counts as the worst."""
    if annotations is None:
        return "destructive"
    if annotations.read_only_hint:
        return "read"
    return "write" if annotations.destructive_hint is False else "destructive"


def _is_closed(error: BaseException) -> bool:
    return isinstance(error, MCPError) and error.code == mcp_types.CONNECTION_CLOSED


def _reason(error: BaseException) -> str:
    # Task groups wrap what went wrong; the first inner error is the one that began it.
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if _is_closed(error):
        return "it ended before it answered"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}{f': {error.filename}' if error.filename else ''}"
    return str(error) or type(error).__name__
