"""The command `antiphon mcp`: the threads of a store as tools for MCP clients, over standard input and output."""

import argparse
import asyncio
import logging
import sys
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path

from antiphon.app import App
from antiphon.cli.frame import DONE, CliCommand, UsageError
from antiphon.cli.options import add_store, store_file
from antiphon.cli.serve.command import PACKAGES
from antiphon.cli.serve.tools import open_toolbox
from antiphon.runtime.errors import StoreBusy

NOT_INSTALLED = "antiphon mcp needs the server and the MCP library; run: pip install 'antiphon[server,mcp]'"
EXAMPLES = """examples:
  antiphon mcp                     serve the store to the program that starts this command
  antiphon mcp --workspace .       let threads use tools in this folder

MCP clients start this command; `antiphon serve` has the same tools at /mcp for clients that connect by HTTP.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--workspace", metavar="DIR", type=Path, help="let threads use tools in this folder: files, commands, pages")
    add("--any-model", action="store_true", help="let the client name models by files of this host and by addresses")
    add("--verbose", action="store_true", help="log to standard error")
    add_store(parser)


def run(options: argparse.Namespace) -> int:
    """Serve until the client closes standard input."""
    if any(find_spec(name) is None for name in (*PACKAGES, "mcp")):
        raise UsageError(NOT_INSTALLED)
    level = logging.INFO if options.verbose else logging.WARNING
    logging.basicConfig(level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    asyncio.run(_serve(options))
    return DONE


async def _serve(options: argparse.Namespace) -> None:
    # Imported here because the packages are slow to load, and may be missing.
    from antiphon.providers.registry import Models
    from antiphon.server.facades.mcp.stdio import serve_stdio
    from antiphon.server.models import ServedModels

    async with AsyncExitStack() as stack:
        toolbox = open_toolbox(stack, options.workspace, store_file(options))
        models = Models() if options.any_model else ServedModels()
        try:
            app = await stack.enter_async_context(App(store_file(options), models=models, toolbox=toolbox))
        except StoreBusy as error:
            raise StoreBusy(f"{error}; if it is `antiphon serve`, connect the client to /mcp of its address") from error
        await serve_stdio(app)


COMMAND = CliCommand(
    "Serve the threads of a store as tools for MCP clients, over standard input and output.",
    add_options,
    run,
    EXAMPLES,
    works=True,
)
