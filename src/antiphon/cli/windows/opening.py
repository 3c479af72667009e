"""What a window brings to the server of its store: MCP servers that its person trusts, and a price file."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from antiphon.client.starting import server_environment
from antiphon.providers.prices import Prices, default_path
from antiphon.tools.mcp.config import VARIABLE, CommandServer, Server


def price_file(file: Path | None = None) -> Path | None:
    """Return a price file, or the default one if it exists."""
    path = file or default_path()
    return path if file is not None or path.is_file() else None


def load_prices(file: Path | None = None) -> Prices:
    """Load the prices of a file, or of the default file if it exists."""
    path = price_file(file)
    return Prices() if path is None else Prices.load(path)


def window_opening(
    servers: Sequence[Server] = (), prices: Path | None = None, environ: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """Return the body that opens a window: its servers run in its folder, with its environment.

    Of variables that may be secrets, those are sent that the servers name.
    """
    opening: dict[str, Any] = {}
    if servers:
        tables = {server.name: _table(server) for server in servers}
        named = {name: environ[name] for name in VARIABLE.findall(json.dumps(tables)) if name in environ}
        opening |= {"servers": tables, "environment": {**server_environment(environ), **named}}
    if prices is not None:
        opening["prices"] = {"name": prices.name, "text": prices.read_text("utf-8")}
    return opening


def _table(server: Server) -> dict[str, Any]:
    """Return a server as it is written in a file, with the absolute path of its folder."""
    common = {**asdict(server.limits), "trust": server.trust}
    if isinstance(server, CommandServer):
        folder = os.path.abspath(server.cwd or "")
        env = dict(server.env)
        return {"command": server.command, "args": list(server.args), "env": env, "cwd": folder, **common}
    return {"url": server.url, "headers": dict(server.headers), **common}
