"""The command `antiphon serve`: the threads of a store over HTTP."""

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.cli.frame import DONE, CliCommand, UsageError
from antiphon.cli.local_server import ServedElsewhere, idle_seconds, is_used_by_windows, open_app, open_local
from antiphon.cli.options import add_store, store_file
from antiphon.cli.render.plain import write
from antiphon.threads.toolbox import Toolbox

if TYPE_CHECKING:
    from antiphon.server.local import LocalServer
    from antiphon.server.running import Binding
    from antiphon.server.settings import ServerSettings

PORT = 8787
LAST_PORT = 65_535
TOKEN = "ANTIPHON_SERVER_TOKEN"
PACKAGES = ("fastapi", "uvicorn", "msgspec", "yaml")
NOT_INSTALLED = "antiphon serve needs FastAPI and uvicorn; run: pip install 'antiphon[server]'"
EXAMPLES = f"""examples:
  antiphon serve                        serve the store on http://127.0.0.1:{PORT}/
  antiphon serve --workspace .          let threads use tools in this folder
  antiphon serve --host 0.0.0.0 --allow-host chat.example.org --tls-cert cert.pem --tls-key key.pem

The address is printed once, with a token. {TOKEN} sets a token of your own.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--host", metavar="HOST", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    add("--port", metavar="PORT", type=_port, default=PORT, help=f"port; 0 is any free one (default: {PORT})")
    add("--allow-host", metavar="NAME", action="append", default=[], help="name by which clients reach the server")
    add("--tls-cert", metavar="FILE", type=Path, help="certificate, in PEM format")
    add("--tls-key", metavar="FILE", type=Path, help="private key of the certificate")
    add("--behind-proxy", action="store_true", help="a proxy in front of the server ends TLS")
    add("--workspace", metavar="DIR", type=Path, help="let threads use tools in this folder: files, commands, pages")
    add("--local", action="store_true", help="serve terminals of this machine over a socket, until they have left")
    add("--any-model", action="store_true", help="let clients name models by files of this host and by addresses")
    add("--verbose", action="store_true", help="log each request to standard error")
    add_store(parser)


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > LAST_PORT:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to {LAST_PORT}, not {text!r}")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Serve until the process is told to stop."""
    if any(find_spec(name) is None for name in PACKAGES):
        raise UsageError(NOT_INSTALLED)
    binding, settings = server_settings(options, os.environ.get(TOKEN))
    idle_s = idle_seconds(os.environ)
    settings = settings if idle_s is None else replace(settings, idle_s=idle_s)
    level = logging.INFO if options.verbose else logging.WARNING
    logging.basicConfig(level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    work = _serve_windows(options, settings) if options.local else _serve(options, binding, settings)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(work)
    return DONE


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return the event loop of uvloop where it is installed."""
    if find_spec("uvloop") is None:
        return None
    from antiphon.server.loops import fast_loop

    return fast_loop()


def server_settings(options: argparse.Namespace, token: str | None) -> "tuple[Binding, ServerSettings]":
    """Return the address and the settings of a server; `UsageError` if others could reach it without protection."""
    # Imported here because the packages are slow to load, and may be missing.
    from antiphon.server.running import Binding
    from antiphon.server.settings import LOOPBACK, SHORTEST_TOKEN, ServerSettings

    has_tls = options.tls_cert is not None
    if has_tls != (options.tls_key is not None):
        raise UsageError("--tls-cert and --tls-key belong together; pass both")
    if not (_is_loopback(options.host) or has_tls or options.behind_proxy):
        raise UsageError(
            f"{options.host} can be reached from other machines; pass --tls-cert and --tls-key, "
            "or --behind-proxy if a proxy in front of the server ends TLS"
        )
    if token is not None and not (len(token) >= SHORTEST_TOKEN and token.isascii() and token.isprintable()):
        raise UsageError(f"{TOKEN} must have at least {SHORTEST_TOKEN} ASCII characters; unset it for a random one")
    hosts = [*LOOPBACK, *_own_name(options), *(name.lower() for name in options.allow_host)]
    settings = ServerSettings(hosts=tuple(dict.fromkeys(hosts)), is_secure=has_tls or options.behind_proxy)
    settings = settings if token is None else replace(settings, token=token)
    return Binding(options.host, options.port, options.tls_cert, options.tls_key), settings


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _own_name(options: argparse.Namespace) -> list[str]:
    """Return the name of the server that its address is; an address of all interfaces is none."""
    try:
        address = ip_address(options.host)
    except ValueError:
        return [options.host.lower()]
    if address.is_unspecified:
        if not options.allow_host:
            raise UsageError(f"{options.host} is no name; say by --allow-host NAME how clients reach the server")
        return []
    return [f"[{address}]" if address.version == 6 else str(address)]


async def _serve(options: argparse.Namespace, binding: "Binding", settings: "ServerSettings") -> None:
    from antiphon.server.running import HttpServer, run_server

    def announce(address: str, server: HttpServer) -> None:
        write(sys.stdout, f"{address}?token={settings.token}\n")
        sys.stdout.flush()

    async with AsyncExitStack() as stack:
        toolbox = _toolbox(stack, options.workspace)
        store = store_file(options)
        local = _open_windows(stack, store, toolbox)
        app = await open_app(stack, options, store, toolbox, local)
        try:
            await run_server(app, settings, binding, announce, local)
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(
                f"cannot listen on {binding.host}:{binding.port}: {reason}; choose another with --port"
            ) from error


def _open_windows(stack: AsyncExitStack, store: Path, toolbox: Toolbox | None) -> "LocalServer | None":
    """Return the side of the server for windows of this machine; None if they use none, or cannot."""
    if not is_used_by_windows():
        return None
    try:
        return open_local(stack, store, "serve", toolbox)
    except UsageError as error:
        logging.getLogger("antiphon.server").warning("terminals cannot use this server: %s", error)
        return None


async def _serve_windows(options: argparse.Namespace, settings: "ServerSettings") -> None:
    """Serve windows of this machine alone; another process that does so already is enough."""
    from antiphon.server.running import run_local_server

    store = store_file(options)
    async with AsyncExitStack() as stack:
        local = open_local(stack, store, "local", None)
        try:
            app = await open_app(stack, options, store, None, local)
        except ServedElsewhere:
            return
        await run_local_server(app, settings, local, lambda server: None)


def _toolbox(stack: AsyncExitStack, folder: Path | None) -> Toolbox | None:
    """Return the tools of a folder; without one, threads have no tools that act on the host."""
    if folder is None:
        return None
    from antiphon.tools import Workspace, workspace_tools

    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    return workspace_tools(stack.enter_context(Workspace(folder.resolve())))


COMMAND = CliCommand(
    "Serve the threads of a store over HTTP, for browsers and programs of this machine.",
    add_options,
    run,
    EXAMPLES,
    works=True,
)
