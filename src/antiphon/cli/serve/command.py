"""The command `antiphon serve`: the threads of a store over HTTP."""

import argparse
import asyncio
import os
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from antiphon.cli.browser import page_opener, print_address
from antiphon.cli.frame import DONE, CliCommand, UsageError
from antiphon.cli.options import add_store, store_file
from antiphon.cli.serve.served_app import open_app
from antiphon.cli.serve.settings import (
    add_server_options,
    effective_settings,
    print_settings,
    server_settings,
)
from antiphon.cli.serve.tools import open_toolbox
from antiphon.cli.serve.windows import ServedElsewhere, open_local, open_windows, say_ready

if TYPE_CHECKING:
    from antiphon.server.running import Binding
    from antiphon.server.settings import ServerSettings

PACKAGES = ("fastapi", "uvicorn", "msgspec", "yaml")
NOT_INSTALLED = "antiphon serve needs FastAPI and uvicorn; run: pip install 'antiphon[server]'"
EXAMPLES = """examples:
  antiphon serve                        serve the store on http://127.0.0.1:8787/
  antiphon serve --open                 and open the page in a browser
  antiphon serve --demo                 serve example threads, without a key or a store
  antiphon serve --workspace .          let threads use tools in this folder
  antiphon serve --show-settings        show all settings, and where they come from
  antiphon serve --host 0.0.0.0 --allow-host chat.example.org --tls-cert cert.pem --tls-key key.pem

The address is printed once, with a token. ANTIPHON_SERVER_TOKEN sets a token of your own.
Each option is also a key of the settings file, and an environment variable: --port, port, ANTIPHON_SERVER_PORT.
Users get tokens of their own by `antiphon tokens add`.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_server_options(parser)
    about = "serve terminals of this machine over a socket, until they have left"
    parser.add_argument("--local", action="store_true", help=about)
    about = "serve example threads on scripted models, from a store of their own"
    parser.add_argument("--demo", action="store_true", help=about)
    parser.add_argument("--open", action="store_true", help="open the page in a browser, where there is a display")
    add_store(parser)


def run(options: argparse.Namespace) -> int:
    """Serve until the process is told to stop."""
    settings = effective_settings(options, os.environ)
    if options.show_settings:
        return print_settings(settings, as_json=options.json)
    if options.demo and options.local:
        raise UsageError("--demo serves examples over HTTP, --local the terminals of this machine; pass one of them")
    if any(find_spec(name) is None for name in PACKAGES):
        raise UsageError(NOT_INSTALLED)
    values = argparse.Namespace(**{name: effective.value for name, effective in settings.items()})
    with ExitStack() as stack:
        if options.demo:
            _place_demo(stack, values, options.store)
        binding, server = server_settings(values)
        # Imported here because the packages are slow to load, and may be missing.
        from antiphon.server.logs import configure_log

        configure_log(values.log_format, is_verbose=values.verbose)
        if options.local:
            work = _serve_windows(values, server)
        else:
            show = page_opener(stack) if options.open else print_address
            work = _serve(values, binding, server, show, is_demo=options.demo)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(work)
    return DONE


def _place_demo(stack: ExitStack, values: argparse.Namespace, store: Path | None) -> None:
    """Set the store and the workspace of a demonstration: temporary ones, unless they are named by options."""
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="antiphon-demo-")))
    workspace = folder / "workspace"
    workspace.mkdir()
    values.store = store or folder / "demo.db"
    values.workspace = values.workspace or workspace


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return the event loop of uvloop where it is installed."""
    if find_spec("uvloop") is None:
        return None
    from antiphon.server.process import fast_loop

    return fast_loop()


async def _serve(
    options: argparse.Namespace,
    binding: "Binding",
    settings: "ServerSettings",
    show: Callable[[str], None],
    *,
    is_demo: bool = False,
) -> None:
    from antiphon.server.first_work import begin_work
    from antiphon.server.process import tune_process
    from antiphon.server.running import HttpServer, run_server

    def announce(address: str, server: HttpServer) -> None:
        show(f"{address}?token={settings.token}")
        tune_process()

    async with AsyncExitStack() as stack:
        store = store_file(options)
        toolbox = open_toolbox(stack, options.workspace, store)
        local = open_windows(stack, store, toolbox)
        app = await open_app(stack, options, store, toolbox, local)
        first_work = begin_work(app, is_demo=is_demo, resumes=options.resume_interrupted)
        stack.callback(first_work.cancel)
        try:
            await run_server(app, settings, binding, announce, local)
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(
                f"cannot listen on {binding.host}:{binding.port}: {reason}; choose another with --port"
            ) from error


async def _serve_windows(options: argparse.Namespace, settings: "ServerSettings") -> None:
    """Serve windows of this machine alone; another process that does so already is enough."""
    from antiphon.server.process import tune_process
    from antiphon.server.running import HttpServer, run_local_server

    def announce(server: HttpServer) -> None:
        say_ready()
        tune_process()

    store = store_file(options)
    async with AsyncExitStack() as stack:
        local = open_local(stack, store, "local", None)
        try:
            app = await open_app(stack, options, store, None, local, is_free=True)
        except ServedElsewhere:
            return
        await run_local_server(app, settings, local, announce)


COMMAND = CliCommand(
    "Serve the threads of a store over HTTP, for browsers and programs of this machine.",
    add_options,
    run,
    EXAMPLES,
    works=True,
)
