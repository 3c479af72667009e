"""The app behind a conversation in the terminal: its store, models and tools, and the thread that is meant."""

import argparse
import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Generic, TypeVar

from antiphon.app import App
from antiphon.cli.chat.client import Dialogue, Heard
from antiphon.cli.default_model import Choice
from antiphon.cli.lookup import one_thread
from antiphon.cli.loop import Background
from antiphon.cli.render.plain import View
from antiphon.paths import store_path
from antiphon.threads.toolbox import tools_to_json
from antiphon.tools.mcp.config import load_servers
from antiphon.tools.mcp.toolbox import McpTools

T = TypeVar("T")


class Misuse(Exception):
    """The command was called with something that cannot be."""


class Serving(Generic[T]):
    """Something on the background loop, opened and closed there by one task."""

    def __init__(self, background: Background, opened: AbstractAsyncContextManager[T]) -> None:
        self._background, self._opened = background, opened
        self._ready: Future[T] = Future()
        self._closing = asyncio.Event()

    def __enter__(self) -> T:
        self._task = self._background.submit(self._run())
        return self._ready.result()

    def __exit__(self, *error: object) -> None:
        self._background.call(self._close())
        self._task.result()

    async def _run(self) -> None:
        try:
            async with self._opened as found:
                self._ready.set_result(found)
                await self._closing.wait()
        except BaseException as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    async def _close(self) -> None:
        self._closing.set()


@asynccontextmanager
async def conversation(
    options: argparse.Namespace, choice: Choice, view: View, heard: Heard | None = None
) -> AsyncIterator[Dialogue]:
    """A conversation with everything behind it: its store, models and tools, and the thread that is meant."""
    store = options.store or store_path()
    store.parent.mkdir(parents=True, exist_ok=True)
    config: dict[str, Any] = {"model": choice.reference, "system": options.system, "consent": {"mode": options.mode}}
    async with AsyncExitStack() as stack:
        toolbox = None
        if options.mcp is not None:
            toolbox = await stack.enter_async_context(McpTools(load_servers(options.mcp)))
            config["settings"] = {"options": {"tools": tools_to_json(toolbox.tools)}}
            for problem in toolbox.problems:
                view.line(f"{problem.server}: {problem.message}", "error")
        app = await stack.enter_async_context(App(store, toolbox=toolbox))
        app.models.open(choice.reference)  # a reference that names nothing is found before anything is asked
        dialogue = Dialogue(app, view, config, heard)
        await _find_thread(dialogue, options)
        yield dialogue


async def _find_thread(dialogue: Dialogue, options: argparse.Namespace) -> None:
    library = dialogue.app.threads.library
    if options.last:
        latest = await library.latest(1)
        if not latest:
            raise Misuse("there is no conversation to go on with")
        dialogue.thread = latest[0].id
    elif options.thread is not None:
        dialogue.thread = await one_thread(library, options.thread)
    if dialogue.thread is None:
        return
    known = (await dialogue.talk()).chat["config"].get("model")
    if options.model is None:
        dialogue.config["model"] = known or dialogue.config["model"]
    elif known != options.model:
        await dialogue.perform("use_model", model=options.model)
