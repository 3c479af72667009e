"""What a chat in the terminal needs: its store, models and tools, and the thread that is meant."""

import argparse
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from typing import Any

from antiphon.app import App
from antiphon.cli.chat.client import ChatClient, Listener
from antiphon.cli.default_model import Choice
from antiphon.cli.lookup import LAST, find_thread
from antiphon.cli.options import store_file
from antiphon.cli.render.plain import NoView, PlainView, View, is_smart
from antiphon.threads.toolbox import tools_to_json
from antiphon.tools.mcp.config import load_servers
from antiphon.tools.mcp.toolbox import McpTools


@asynccontextmanager
async def open_chat(
    options: argparse.Namespace, choice: Choice, view: View, listener: Listener | None = None
) -> AsyncIterator[ChatClient]:
    """Open the store, the models and the tools, and find the thread that is to be continued."""
    config: dict[str, Any] = {"model": choice.reference, "system": options.system, "consent": {"mode": options.mode}}
    async with AsyncExitStack() as stack:
        toolbox = None
        if options.mcp is not None:
            toolbox = await stack.enter_async_context(McpTools(load_servers(options.mcp)))
            config["settings"] = {"options": {"tools": tools_to_json(toolbox.tools)}}
            for problem in toolbox.problems:
                view.line(f"{problem.server}: {problem.message}", "error")
        app = await stack.enter_async_context(App(store_file(options), toolbox=toolbox))
        app.models.open(choice.reference)  # a reference that names nothing is found before anything is asked
        client = ChatClient(app, view, config, listener)
        await _continue(client, LAST if options.last else options.thread, options.model)
        yield client


async def _continue(client: ChatClient, start: str | None, model: str | None) -> None:
    """Find the chat that is to be continued, and let it use the model that was named."""
    if start is None:
        return
    client.thread = await find_thread(client.app.library, start, "chat")
    before = (await client.read()).content["config"].get("model")
    if model is None:
        client.config["model"] = before or client.config["model"]
    elif before != model:
        await client.perform("use_model", model=model)


def chat_view(options: argparse.Namespace, *, is_question: bool) -> View:
    """The view that the options, and what the output goes to, ask for."""
    if options.json:
        return NoView()
    if is_question and not sys.stdout.isatty():
        return PlainView(sys.stdout, sys.stderr, show_thinking=options.thinking)
    if options.plain or not is_smart(sys.stdout, os.environ) or find_spec("rich") is None:
        return PlainView(sys.stdout, show_thinking=options.thinking)
    # Loading it takes a while, which only those pay who see it.
    from antiphon.cli.render.rich import rich_view

    return rich_view(show_thinking=options.thinking)
