"""The MCP server with the clients of PyPI and npm, and with Antiphon's own, over HTTP and as a process."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from antiphon.app import App
from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.tools import McpTools
from antiphon.tools.mcp.config import AddressServer, CommandServer
from tests.fixtures.scripted_team import script
from tests.fixtures.server import CANARY, LiveServer, live_server
from tests.rings.node import run_script

pytestmark = pytest.mark.rings
MODES = ("auto", "legacy")


class Oven:
    """A toolbox with one tool that writes."""

    tools = (Tool("bake", "Bake.", {"type": "object"}, risk="write"),)

    async def call(self, call: ToolCall) -> ToolResult:
        return ToolResult.of(call, "baked")


@pytest.fixture
def model(tmp_path: Path) -> str:
    return script(
        tmp_path,
        {"when": "wait", "steps": [{"text": "Waiting. "}, {"delay_ms": 600_000}]},
        {"after": "bake|write_file", "steps": [{"text": "Baked."}]},
        {"when": "bake", "steps": [{"tool": "bake", "arguments": {"what": "bread"}}]},
        {"when": "write", "steps": [{"tool": "write_file", "arguments": {"path": "a.txt", "content": "x"}}]},
        {"steps": [{"text": "Hello "}, {"text": "there."}, {"usage": {"input": 7, "output": 3}}]},
    )


@pytest.fixture
def server() -> Iterator[LiveServer]:
    with live_server(app=lambda: App(":memory:", toolbox=Oven())) as server:
        yield server


async def allow(context: Any, params: Any) -> mcp_types.ElicitResult:
    assert "permission for" in params.message
    return mcp_types.ElicitResult(action="accept", content={"decision": "allow"})


@asynccontextmanager
async def over_http(address: str, mode: str) -> AsyncIterator[Client]:
    async with (
        create_mcp_http_client(headers={"authorization": f"Bearer {CANARY}"}) as http,
        Client(
            streamable_http_client(f"{address}/mcp", http_client=http), mode=mode, elicitation_callback=allow
        ) as client,
    ):
        yield client


def command(store: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "antiphon", "mcp", "--any-model", "--store", str(store), *words]


@asynccontextmanager
async def over_pipes(store: Path, mode: str, *words: str) -> AsyncIterator[Client]:
    program, *rest = command(store, *words)
    parameters = StdioServerParameters(command=program, args=rest)
    async with Client(stdio_client(parameters), mode=mode, elicitation_callback=allow) as client:
        yield client


async def talk(client: Client, model: str, tool: str, text: str) -> None:
    """The main paths: tools, progress, a form, an error, a cancelled call, resources."""
    reports: list[str] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reports.append(message or "")

    assert "send_message" in {tool.name for tool in (await client.list_tools()).tools}
    reply = await client.call_tool("send_message", {"text": "Hi", "model": model}, progress_callback=report)
    assert reply.structured_content["text"] == "Hello there."
    assert reply.structured_content["usage"] == {"input": 7, "output": 3}
    assert "".join(reports) == "Hello there."
    permitted = await client.call_tool("send_message", {"text": text, "model": model, "tools": [tool]})
    assert permitted.structured_content["text"] == "Baked."
    refused = await client.call_tool("read_thread", {"thread": "nobody"})
    assert refused.is_error
    assert refused.content[0].text == "unknown_thread: there is no thread 'nobody'"
    with pytest.raises(MCPError):
        await client.call_tool("dance", {})
    await cancel(client, model)
    thread = reply.structured_content["thread"]
    uris = [resource.uri for resource in (await client.list_resources()).resources]
    assert f"antiphon://threads/{thread}" in uris
    assert (await client.list_resource_templates()).resource_templates[0].uri_template == "antiphon://threads/{id}"
    content = await client.read_resource(f"antiphon://threads/{thread}")
    assert "Hello there." in content.contents[0].text


async def cancel(client: Client, model: str) -> None:
    """A call that is cancelled stops to wait; its thread runs until it is stopped."""
    begun = asyncio.Event()

    async def report(progress: float, total: float | None, message: str | None) -> None:
        begun.set()

    call = asyncio.create_task(
        client.call_tool("send_message", {"text": "wait", "model": model}, progress_callback=report)
    )
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    (row,) = (await client.call_tool("list_threads", {"status": "running"})).structured_content["items"]
    stopped = await client.call_tool("stop_thread", {"thread": row["id"]})
    assert stopped.structured_content["status"] == "stopped"


@pytest.mark.parametrize("mode", MODES)
def test_the_client_of_pypi_over_http(server: LiveServer, model: str, mode: str) -> None:
    async def main() -> None:
        async with over_http(server.address, mode) as client:
            await talk(client, model, "bake", "bake bread")

    asyncio.run(main())


@pytest.mark.parametrize("mode", MODES)
def test_the_client_of_pypi_with_a_process(tmp_path: Path, model: str, mode: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir()

    async def main() -> None:
        async with over_pipes(tmp_path / "a.db", mode, "--workspace", str(folder)) as client:
            await talk(client, model, "write_file", "write it")

    asyncio.run(main())
    assert (folder / "a.txt").read_text() == "x"


def check_script(result: dict[str, Any]) -> None:
    assert result["server"]["name"] == "antiphon"
    assert "send_message" in result["tools"]
    assert result["reply"]["structuredContent"]["text"] == "Hello there."
    # This client forgets reports that it has not handled when the result arrives, so the last may be missing.
    assert "Hello there.".startswith("".join(result["reports"]))
    assert result["permitted"]["structuredContent"]["text"] == "Baked."
    assert "permission for" in result["forms"][0]
    assert result["refused"]["isError"]
    assert result["refused"]["content"][0]["text"].startswith("unknown_thread: ")
    assert result["unknown"] == "-32602"
    assert len(result["listed"]["structuredContent"]["items"]) == 1
    assert result["listed"]["structuredContent"]["next"]
    assert "enough" in result["cancelled"]
    assert result["running"] == ["Waiting"]
    assert result["stopped"]["structuredContent"]["status"] == "stopped"
    assert f"antiphon://threads/{result['thread']}" in result["resources"]
    assert result["templates"] == ["antiphon://threads/{id}"]
    assert "Hello there." in result["read"]["contents"][0]["text"]


def test_the_client_of_npm_over_http(server: LiveServer, model: str) -> None:
    result = run_script("mcp.mjs", f"{server.address}/mcp", CANARY, model, "bake", "bake bread")

    check_script(result)
    assert result["session"]


def test_the_client_of_npm_with_a_process(tmp_path: Path, model: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    words = command(tmp_path / "a.db", "--workspace", str(folder))

    check_script(run_script("mcp.mjs", "", "", model, "write_file", "write it", *words))
    assert (folder / "a.txt").read_text() == "x"


def own_tools(make: Callable[[], Any], model: str) -> tuple[set[str], str]:
    async def main() -> tuple[set[str], str]:
        async with McpTools([make()]) as tools:
            assert tools.problems == ()
            names = {tool.name for tool in tools.tools}
            arguments = f'{{"text": "Hi", "model": "{model}"}}'
            result = await tools.call(ToolCall("c1", "own__send_message", arguments))
            return names, result.parts[0].text

    return asyncio.run(main())


def test_antiphon_is_a_client_of_itself(server: LiveServer, tmp_path: Path, model: str) -> None:
    address = AddressServer("own", f"{server.address}/mcp", headers={"authorization": f"Bearer {CANARY}"})
    program, *rest = command(tmp_path / "a.db")
    for make in (lambda: address, lambda: CommandServer("own", program, args=tuple(rest))):
        names, text = own_tools(make, model)
        assert {"own__send_message", "own__start_run"} <= names
        assert text.startswith("Hello there.")
