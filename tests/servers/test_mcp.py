"""Real MCP servers from npm and PyPI: their tools are listed, called, called wrongly, at once, and cut off."""

import asyncio
import json
import os
import subprocess

import pytest

from antiphon.messages import Image, ToolCall
from antiphon.tools.mcp.config import AddressServer, CommandServer, ServerLimits
from antiphon.tools.mcp.toolbox import McpTools
from tests.servers.processes import INSTALLED, everything_over_http

pytestmark = pytest.mark.servers
NODE = INSTALLED / "mcp-node" / "node_modules" / ".bin"
PYTHON = INSTALLED / "mcp-python" / "bin"
NAMES = ("everything", "files", "memory", "thinking", "time", "git")
LIMITS = ServerLimits(start_ms=60_000, call_ms=60_000)
PATIENCE_S = 120
TIMES = 30
AT_ONCE = 20
THOUGHT = {"thought": "One.", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
# A call of each server with a part of its result, and a call that it refuses with a part of the reason.
CALLS = {
    "everything": ("echo", {"message": "grüezi"}, "Echo: grüezi"),
    "files": ("read_text_file", {"path": "FOLDER/notes.txt"}, "a note"),
    "memory": ("read_graph", {}, '"entities": []'),
    "thinking": ("sequentialthinking", THOUGHT, '"thoughtHistoryLength": 1'),
    "time": (
        "convert_time",
        {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
        "21:00:00+09:00",
    ),
    "git": ("git_status", {"repo_path": "FOLDER"}, "notes.txt"),
}
REFUSED = {
    "everything": ("echo", {"message": 5}, "Input validation error"),
    "files": ("read_text_file", {"path": "/etc/hostname"}, "Access denied"),
    "memory": ("open_nodes", {"names": "Ada"}, "Input validation error"),
    "thinking": ("sequentialthinking", {"thought": "One."}, "Input validation error"),
    "time": ("get_current_time", {"timezone": "Mars/Olympus"}, "Mars/Olympus"),
    "git": ("git_status", {"repo_path": "/nowhere"}, "/nowhere"),
}


@pytest.fixture
def folder(tmp_path):
    """A repository with a file."""
    (tmp_path / "notes.txt").write_text("a note")
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    return tmp_path


def server(name, folder):
    """One of the servers, on a folder."""
    programs = {
        "everything": (NODE / "mcp-server-everything", ("stdio",), {}),
        "files": (NODE / "mcp-server-filesystem", (str(folder),), {}),
        "memory": (NODE / "mcp-server-memory", (), {"MEMORY_FILE_PATH": str(folder / "memory.json")}),
        "thinking": (NODE / "mcp-server-sequential-thinking", (), {}),
        "time": (PYTHON / "mcp-server-time", (), {}),
        "git": (PYTHON / "mcp-server-git", (), {}),
    }
    program, arguments, environment = programs[name]
    return CommandServer(name, str(program), arguments, environment, limits=LIMITS)


def call(name, tool, arguments, folder=""):
    text = json.dumps(arguments).replace("FOLDER", str(folder))
    return ToolCall(f"call-{tool}", f"{name}__{tool}", text)


def words(result):
    return "\n".join(getattr(part, "text", "(image)") for part in result.parts)


def held(servers, work):
    """Do something with servers, in a bounded time; check that no task is left."""

    async def main():
        async with asyncio.timeout(PATIENCE_S):
            async with McpTools(servers) as tools:
                assert tools.problems == ()
                result = await work(tools)
            assert asyncio.all_tasks() == {asyncio.current_task()}
            return result

    return asyncio.run(main())


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_gives_its_result_and_refuses_a_wrong_call(folder, name):
    tool, arguments, expected = CALLS[name]
    wrong_tool, wrong_arguments, reason = REFUSED[name]

    async def work(tools):
        result = await tools.call(call(name, tool, arguments, folder))
        return result, await tools.call(call(name, wrong_tool, wrong_arguments, folder))

    result, refused = held([server(name, folder)], work)
    assert (result.is_error, expected in words(result)) == (False, True), words(result)
    assert (refused.is_error, reason in words(refused)) == (True, True), words(refused)


@pytest.mark.parametrize("name", NAMES)
def test_calls_back_to_back_and_at_once_all_succeed(folder, name):
    tool, arguments, _ = CALLS[name]

    async def work(tools):
        in_turn = [await tools.call(call(name, tool, arguments, folder)) for _ in range(TIMES)]
        return [
            *in_turn,
            *await asyncio.gather(*(tools.call(call(name, tool, arguments, folder)) for _ in range(AT_ONCE))),
        ]

    results = held([server(name, folder)], work)
    assert [words(result) for result in results if result.is_error] == []
    assert len(results) == TIMES + AT_ONCE


def test_all_servers_work_side_by_side_with_names_of_their_own(folder):
    async def work(tools):
        calls = (call(name, CALLS[name][0], CALLS[name][1], folder) for name in NAMES)
        return [tool.name for tool in tools.tools], await asyncio.gather(*map(tools.call, calls))

    names, results = held([server(name, folder) for name in NAMES], work)
    assert len(names) == len(set(names)) > 40
    assert [result.is_error for result in results] == [False] * len(NAMES)


def test_a_call_that_is_cancelled_leaves_the_server_usable(folder):
    async def work(tools):
        long = call("everything", "trigger-long-running-operation", {"duration": 60, "steps": 2})
        task = asyncio.create_task(tools.call(long))
        first = await tools.call(call("everything", "echo", {"message": "one"}))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled(), words(first), words(await tools.call(call("everything", "echo", {"message": "two"})))

    assert held([server("everything", folder)], work) == (True, "Echo: one", "Echo: two")


def test_images_and_structured_content_arrive(folder):
    async def work(tools):
        image = await tools.call(call("everything", "get-tiny-image", {}))
        return image, await tools.call(call("everything", "get-structured-content", {"location": "Chicago"}))

    image, weather = held([server("everything", folder)], work)
    assert [part.media_type for part in image.parts if isinstance(part, Image)] == ["image/png"]
    assert "temperature" in words(weather)


def test_a_server_gets_no_key_of_ours(folder, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key-d41d8cd98f00b204")

    result = held([server("everything", folder)], lambda tools: tools.call(call("everything", "get-env", {})))
    assert "PATH" in words(result)
    assert "canary" not in words(result)


def test_no_process_is_left(folder):
    async def work(tools):
        return await tools.call(call("everything", "get-env", {})), children()

    before = children()  # servers of other tests may be running
    _, during = held([server(name, folder) for name in NAMES], work)
    assert len(during - before) >= len(NAMES)
    assert children() <= before


def test_a_server_over_http_works_alike():
    async def work(tools):
        calls = (call("remote", "echo", {"message": str(number)}) for number in range(AT_ONCE))
        return [words(result) for result in await asyncio.gather(*map(tools.call, calls))]

    with everything_over_http(NODE / "mcp-server-everything") as address:
        texts = held([AddressServer("remote", f"{address}/mcp", limits=LIMITS)], work)
    assert texts == [f"Echo: {number}" for number in range(AT_ONCE)]


def children():
    """The ids of our child processes."""
    with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as file:
        return set(file.read().split())
