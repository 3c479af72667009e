"""Open windows: a stream that lasts as long as its window, with the MCP servers that the window has brought."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import Prices
from antiphon.runtime.doors import Doors
from antiphon.runtime.errors import RuntimeFault
from antiphon.server.frames import frame
from antiphon.server.problems import ProblemError
from antiphon.server.windows.servers import WindowServers
from antiphon.threads.toolbox import tools_to_json
from antiphon.tools.errors import ToolsError
from antiphon.tools.mcp.config import CommandServer, Server, parse_servers
from antiphon.tools.mcp.toolbox import McpTools

OPEN = "open"
RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Opening:
    """What a window brings when it opens."""

    servers: tuple[Server, ...] = ()
    environment: Mapping[str, str] | None = None
    prices: Prices | None = None


def read_opening(body: Mapping[str, Any]) -> Opening:
    """Return what a window brings; raise `ProblemError` if it cannot be used, without quoting it."""
    try:
        servers = parse_servers({"servers": body.get("servers", {})}, "servers of the window")
        prices = None
        if "prices" in body:
            prices = Prices.parse(body["prices"]["text"].encode(), Path(body["prices"]["name"]))
    except ToolsError as error:
        raise ProblemError("bad_settings", str(error)) from None
    except ProviderError as error:
        raise ProblemError("bad_settings", error.message) from None
    for server in servers:
        # This process is in another folder than the window.
        if isinstance(server, CommandServer) and not Path(server.cwd or "").is_absolute():
            raise ProblemError("bad_settings", f"servers.{server.name}.cwd must be the absolute path of a folder")
    return Opening(servers, body.get("environment", {}), prices)


async def hold_window(runtime: Doors, servers: WindowServers, window: str, opening: Opening) -> AsyncIterator[bytes]:
    """Yield the event `open` once the servers of a window have started, and wait until its stream is closed."""
    tools: McpTools | None = None

    async def wait_until_unused(threads: Sequence[str]) -> None:
        for thread in threads:
            with suppress(RuntimeFault):  # it was deleted
                await runtime.wait_until(thread, lambda state: state.value != RUNNING)

    try:
        if opening.servers:
            try:
                tools = await servers.open(window, opening.servers, opening.environment or {})
            except ToolsError as error:
                yield frame(ProblemError("bad_settings", str(error)).to_json(), event="problem")
                return
        problems = () if tools is None else tools.problems
        rows = [{"server": problem.server, "message": problem.message} for problem in problems]
        listed = [] if tools is None else tools_to_json(tools.tools)
        yield frame({"tools": listed, "problems": rows}, event=OPEN)
        await asyncio.Event().wait()
    finally:
        if tools is not None:
            servers.end_when_unused(window, tools, wait_until_unused)
