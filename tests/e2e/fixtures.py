"""A real server with scripted models, and pages of Chromium that are signed in to it."""

import asyncio
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from antiphon.app import App
from antiphon.providers.registry import Models
from tests.e2e.app import WebApp
from tests.fixtures.cutting_proxy import CuttingProxy, cutting_proxy
from tests.fixtures.server import LiveServer, live_server

PATIENCE_MS = 20_000
expect.set_options(timeout=PATIENCE_MS)
SCREENSHOTS = Path(os.environ.get("ANTIPHON_SCREENSHOTS", ".screenshots"))
# A refused request is shown by the app; that the browser also writes it to its console is no fault.
EXPECTED = re.compile(r"Failed to load resource|net::ERR_")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.fail("there is no chromium on this machine; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


class Pages:
    """Opens pages of a browser that is signed in; an error that no code catches fails the test."""

    def __init__(self, browser: Browser, stack: ExitStack) -> None:
        self._browser = browser
        self._stack = stack
        self.errors: list[str] = []

    def context(self, server: LiveServer, **options: Any) -> BrowserContext:
        viewport = {"width": 1280, "height": 800}
        settings = {"base_url": server.address, "viewport": viewport, "reduced_motion": "reduce", **options}
        context = self._browser.new_context(**settings)
        context.set_default_timeout(PATIENCE_MS)
        self._stack.callback(context.close)
        return context

    def open(self, server: LiveServer, path: str = "/", **options: Any) -> WebApp:
        return self.tab(server, self.context(server, **options), path)

    def tab(self, server: LiveServer, context: BrowserContext, path: str = "/") -> WebApp:
        page = context.new_page()
        self._watch(page)
        page.goto(f"/?token={server.settings.token}")
        if path != "/":
            page.goto(path)
        return WebApp(page, server)

    def _watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._hear)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not EXPECTED.search(message.text):
            self.errors.append(message.text)


class Proxy:
    """A proxy in a thread of its own, whose open connections can be cut."""

    def __init__(self, proxy: CuttingProxy, loop: asyncio.AbstractEventLoop) -> None:
        self._proxy = proxy
        self._loop = loop
        self.address = proxy.address

    def cut(self) -> None:
        asyncio.run_coroutine_threadsafe(self._proxy.close(), self._loop).result(PATIENCE_MS / 1000)

    def end(self, event: asyncio.Event) -> None:
        self._loop.call_soon_threadsafe(event.set)


@contextmanager
def proxy_to(port: int) -> Iterator[Proxy]:
    """Run a proxy in front of a port until the block ends."""
    ready: Queue[Proxy] = Queue()
    ended = asyncio.Event()

    async def main() -> None:
        async with cutting_proxy(port, ()) as proxy:
            ready.put(Proxy(proxy, asyncio.get_running_loop()))
            await ended.wait()

    thread = Thread(target=lambda: asyncio.run(main()))
    thread.start()
    proxy = ready.get(timeout=PATIENCE_MS / 1000)
    try:
        yield proxy
    finally:
        proxy.end(ended)
        thread.join()


@pytest.fixture
def pages(browser: Browser) -> Iterator[Pages]:
    with ExitStack() as stack:
        pages = Pages(browser, stack)
        yield pages
    assert pages.errors == []


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    """A server whose clients may choose models by a file: the scripts of tests."""
    with live_server(app=lambda: App(tmp_path / "threads.db", models=Models()), retry_ms=100) as server:
        yield server


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """Write a script for the scripted model; return the reference of the model."""

    def write(text: str, name: str = "script") -> str:
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        return f"scripted:{path}"

    return write


@pytest.fixture
def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture
def screenshots() -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS
