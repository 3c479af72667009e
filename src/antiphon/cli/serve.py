"""The command `antiphon serve`: the threads of a store over HTTP."""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING

from antiphon.app import App
from antiphon.cli.frame import DONE, CliCommand, UsageError
from antiphon.cli.options import add_store, store_file
from antiphon.cli.render.plain import write
from antiphon.cli.served_tools import open_toolbox
from antiphon.cli.server_settings import (
    add_server_options,
    effective_settings,
    owner_limits,
    print_settings,
    server_settings,
)

if TYPE_CHECKING:
    from antiphon.server.running import Binding
    from antiphon.server.settings import ServerSettings

PACKAGES = ("fastapi", "uvicorn", "msgspec", "yaml")
NOT_INSTALLED = "antiphon serve needs FastAPI and uvicorn; run: pip install 'antiphon[server]'"
EXAMPLES = """examples:
  antiphon serve                        serve the store on http://127.0.0.1:8787/
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
    add_store(parser)


def run(options: argparse.Namespace) -> int:
    """Serve until the process is told to stop."""
    settings = effective_settings(options, os.environ)
    if options.show_settings:
        return print_settings(settings, as_json=options.json)
    if any(find_spec(name) is None for name in PACKAGES):
        raise UsageError(NOT_INSTALLED)
    values = argparse.Namespace(**{name: effective.value for name, effective in settings.items()})
    binding, server = server_settings(values)
    # Imported here because the packages are slow to load, and may be missing.
    from antiphon.server.logs import configure_log

    configure_log(values.log_format, is_verbose=values.verbose)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(values, binding, server))
    return DONE


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return the event loop of uvloop where it is installed."""
    if find_spec("uvloop") is None:
        return None
    from antiphon.server.loops import fast_loop

    return fast_loop()


async def _serve(options: argparse.Namespace, binding: "Binding", settings: "ServerSettings") -> None:
    from antiphon.providers.registry import Models
    from antiphon.server.models import ServedModels
    from antiphon.server.running import HttpServer, run_server

    def announce(address: str, server: HttpServer) -> None:
        write(sys.stdout, f"{address}?token={settings.token}\n")
        sys.stdout.flush()

    async with AsyncExitStack() as stack:
        store = store_file(options)
        toolbox = open_toolbox(stack, options.workspace, store)
        models = Models() if options.any_model else ServedModels()
        app = App(store, models=models, toolbox=toolbox, limits=owner_limits(options))
        await stack.enter_async_context(app)
        try:
            await run_server(app, settings, binding, announce)
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(
                f"cannot listen on {binding.host}:{binding.port}: {reason}; choose another with --port"
            ) from error


COMMAND = CliCommand(
    "Serve the threads of a store over HTTP, for browsers and programs of this machine.",
    add_options,
    run,
    EXAMPLES,
    works=True,
)
