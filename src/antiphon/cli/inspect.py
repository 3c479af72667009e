"""The command `antiphon inspect`: a machine in the inspector of the web app, on a server of its own."""

import argparse
import asyncio
import json
import logging
import sys
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from antiphon.app import App
from antiphon.chart.errors import ChartError, EngineError
from antiphon.cli.browser import page_opener, print_address
from antiphon.cli.charts import ChartFileError, find_machine, is_chart_file, load_machine
from antiphon.cli.frame import DONE, CliCommand, UsageError
from antiphon.runtime.machines import AnyMachine

PACKAGES = ("fastapi", "uvicorn")
NOT_INSTALLED = "antiphon inspect needs FastAPI and uvicorn; run: pip install 'antiphon[server]'"
EXAMPLES = """examples:
  antiphon inspect shop.charts:order                 open a machine of yours
  antiphon inspect shop.charts:order --input '{"n": 1}'
  antiphon inspect door.json --no-open               print the address and open nothing

One actor of the machine is started, in memory; it is driven from the page, and ends with this command.
Functions of a chart in a file are placeholders: actions do nothing, and guards return true.
The address is for this machine alone, and has a token.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("machine", metavar="MODULE:MACHINE", help="a machine of a module, or a chart in a JSON, YAML or SCXML file")
    add("--input", metavar="JSON", help="input of the machine")
    add("--port", metavar="PORT", type=int, default=0, help="port on the loopback address (default: any free one)")
    add("--no-open", action="store_true", help="print the address, and open no browser")


def run(options: argparse.Namespace) -> int:
    """Serve the inspector until the process is told to stop."""
    if any(find_spec(name) is None for name in PACKAGES):
        raise UsageError(NOT_INSTALLED)
    machine = _find(options.machine)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    asyncio.run(_serve(options, machine))
    return DONE


def _find(name: str) -> AnyMachine:
    if not is_chart_file(name) and ":" not in name:
        raise UsageError(f"{name!r} is no chart file; a machine of yours is module:name")
    try:
        return load_machine(Path(name)) if is_chart_file(name) else find_machine(name)
    except (ChartError, ChartFileError) as error:
        raise UsageError(str(error)) from error


def _read_input(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"--input is not JSON: {error}") from error


async def _serve(options: argparse.Namespace, machine: AnyMachine) -> None:
    # Imported here because the packages are slow to load, and may be missing.
    from antiphon.server.models import ServedModels
    from antiphon.server.running import Binding, HttpServer, run_server
    from antiphon.server.settings import ServerSettings

    input = _read_input(options.input)
    settings = ServerSettings()
    async with AsyncExitStack() as stack:
        show = print_address if options.no_open else page_opener(stack)
        app = await stack.enter_async_context(App(":memory:", models=ServedModels(), machines=[machine]))
        try:
            root = await app.runtime.create(machine.id, root=machine.id, input=input)
        except EngineError as error:
            raise UsageError(f"{machine.id!r} cannot be started: {error}") from error

        def announce(address: str, server: HttpServer) -> None:
            show(inspector_address(address, settings.token, root, options.machine))

        try:
            await run_server(app, settings, Binding(port=options.port), announce)
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"cannot listen on port {options.port}: {reason}; choose another with --port") from error


def inspector_address(address: str, token: str, root: str, machine: str) -> str:
    """Return the address that signs in and opens an actor in the inspector, where tests are copied with the machine."""
    page = f"/inspector/{quote(root, safe='')}"
    if not is_chart_file(machine):
        page += f"?of={quote(machine, safe='')}"
    return f"{address}?{urlencode({'token': token, 'to': page})}"


COMMAND = CliCommand(
    "Open a machine in the inspector: its chart, its events, its context, and a form to send it events.",
    add_options,
    run,
    EXAMPLES,
    works=True,
)
