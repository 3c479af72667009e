"""The window of a chat: an app in this process or a server, with the tools of MCP servers."""

import argparse
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.cli.frame import UsageError
from antiphon.cli.options import store_file
from antiphon.cli.windows.access import open_window
from antiphon.cli.windows.opening import load_prices, price_file, window_opening
from antiphon.cli.windows.types import Window, as_client
from antiphon.threads.toolbox import OfferedTool
from antiphon.tools.mcp.toolbox import McpTools

if TYPE_CHECKING:
    from antiphon.app import App

MEMORY = ":memory:"


@asynccontextmanager
async def open_chat_window(
    options: argparse.Namespace, *, stays: bool
) -> AsyncIterator[tuple[Window, Sequence[OfferedTool], Sequence[str]]]:
    """Open the threads, with the tools of MCP servers, and with the problems of those that have not started."""
    store: Path | str = MEMORY if options.no_store else store_file(options)
    boxes: list[McpTools] = []

    @asynccontextmanager
    async def open_app() -> "AsyncIterator[App]":
        # Imported here because a client does not need it.
        from antiphon.app import App

        async with AsyncExitStack() as stack:
            if options.mcp is not None:
                boxes.append(await stack.enter_async_context(McpTools(options.servers)))
            yield await stack.enter_async_context(
                App(store, prices=load_prices(), toolbox=boxes[-1] if boxes else None)
            )

    if options.mcp is not None and getattr(options, "server", None) is not None:
        raise UsageError("--mcp starts servers of this machine; remove it, or --server")
    if options.no_store:
        async with open_app() as app:
            yield app, *_tools_of(boxes)
        return
    prices = price_file()
    needs_opening = stays or bool(options.servers) or prices is not None
    opening = window_opening(options.servers, prices) if needs_opening else None
    async with open_window(options, Path(store), open_app, starts=True, opening=opening) as window:
        client = as_client(window)
        if client is not None:
            yield window, client.tools, client.problems
        else:
            yield window, *_tools_of(boxes)


def _tools_of(boxes: Sequence[McpTools]) -> tuple[Sequence[OfferedTool], Sequence[str]]:
    """Return the tools of MCP servers, and the problems of those that have not started."""
    tools = [tool for box in boxes for tool in box.tools]
    return tools, [f"{problem.server}: {problem.message}" for box in boxes for problem in box.problems]
