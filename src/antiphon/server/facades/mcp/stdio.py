"""The MCP server over standard input and output, for clients that start it as a program."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any, cast

from mcp.server.stdio import stdio_server

from antiphon.app import App
from antiphon.server.context import ServerContext
from antiphon.server.facades.mcp.protocol import build_protocol
from antiphon.server.settings import ServerSettings

CHUNK = 65_536


async def serve_stdio(app: App) -> None:
    """Serve an app, which the caller opens and closes, until the client closes standard input.

    Meanwhile standard output is the client's: what else is written there goes to standard error.
    """
    server = build_protocol(ServerContext(app, ServerSettings()))
    lines = cast(Any, input_lines(_take_input()))  # the library iterates over it, and needs nothing else
    async with stdio_server(stdin=lines) as (source, sink):
        await server.run(source, sink, server.create_initialization_options())


def _take_input() -> int:
    """Return a descriptor for standard input, which is empty for everybody else from now on, child processes too."""
    descriptor = os.dup(sys.stdin.fileno())
    with open(os.devnull, "rb") as empty:
        os.dup2(empty.fileno(), sys.stdin.fileno())
    return descriptor


async def input_lines(descriptor: int) -> AsyncIterator[str]:
    """Iterate over the lines of a descriptor until it is closed.

    They are read by a thread that dies with the process: a read cannot be cancelled, and Ctrl-C must not wait for it.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        while True:
            try:
                chunk = os.read(descriptor, CHUNK)
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            except (OSError, RuntimeError):  # the descriptor or the loop is closed
                return
            if not chunk:
                return

    threading.Thread(target=read, name="antiphon-mcp-input", daemon=True).start()
    rest = b""
    while chunk := await chunks.get():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")
