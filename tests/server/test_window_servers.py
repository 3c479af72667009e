"""What windows bring: MCP servers that run for their threads, prices, and commands outside the sandbox."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App
from antiphon.messages import Usage
from antiphon.providers.base import Model
from antiphon.providers.prices import Prices
from antiphon.runtime.records import Task
from antiphon.runtime.tasks import CURRENT
from antiphon.server.windows.keys import Windows
from antiphon.server.windows.prices import WindowPrices
from tests.fixtures.local_server import is_alive
from tests.fixtures.processes import processes_in
from tests.fixtures.scripted_team import script
from tests.fixtures.server import PATIENCE_S, LiveServer, live_server

PROGRAM = str(Path(__file__).parents[1] / "fixtures" / "mcp_server.py")
SECRET = "canary-of-the-window"


@pytest.fixture
def server(short_folder: Path) -> Iterator[LiveServer]:
    with live_server(short_folder / "s.db", socket=short_folder / "s.sock") as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "window"
    path.mkdir()
    return path


def brought(folder: Path, **more: Any) -> dict[str, Any]:
    """The opening of a window with an MCP server in its folder."""
    table = {"command": sys.executable, "args": [PROGRAM, "old"], "cwd": str(folder), **more}
    return {"servers": {"old": table}, "environment": {"THE_TOKEN": SECRET}}


def echoing(folder: Path, *more: dict[str, Any]) -> str:
    """A model that lets the tool of the MCP server say something."""
    call = {"tool": "old__echo", "arguments": {"text": "from the window"}}
    return script(folder, *more, {"after": "old__echo", "steps": [{"text": "Done."}]}, {"steps": [call]})


def results(server: LiveServer, thread: str) -> list[str]:
    """The texts of the results of a thread's calls."""

    async def read(app: App) -> list[str]:
        activities, _ = await app.threads.history(thread)
        return [str(activity.facts) for activity in activities if activity.kind == "tool_ended"]

    return list(server.call(read))


def until_none_in(server: LiveServer, folder: Path) -> None:
    async def wait(app: App) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while processes_in(folder):
                await asyncio.sleep(0.01)

    server.call(wait)


def test_a_thread_calls_the_servers_of_its_window_in_the_folder_of_the_window(
    server: LiveServer, tmp_path: Path, folder: Path
) -> None:
    with server.window() as window, window.opened(**brought(folder)) as facts:
        assert len(processes_in(folder)) == 1
        body = {"kind": "chat", "model": echoing(tmp_path), "tools": ["old__echo"], "mode": "auto"}
        thread = window.post("/threads", body)["id"]
        window.post(f"/threads/{thread}/messages", {"text": "Go"})
        assert server.wait_until_idle(thread) == "waiting"
        (request,) = window.get(f"/threads/{thread}")["requests"]
        window.post(f"/threads/{thread}/respond", {"requestId": request["id"], "decision": "allow"})
        assert server.wait_until_idle(thread) == "completed"

    assert "old__echo" in [tool["name"] for tool in facts["tools"]]
    assert "from the window" in results(server, thread)[0]


def test_another_window_has_neither_the_tools_nor_the_servers(server: LiveServer, folder: Path) -> None:
    body = {"kind": "chat", "model": "scripted:demo", "tools": ["old__echo"]}
    with server.window("first") as first, server.window("second") as second, first.opened(**brought(folder)):
        assert "old__echo" in [tool["name"] for tool in first.get("/tools")["items"]]
        assert "old__echo" not in [tool["name"] for tool in second.get("/tools")["items"]]
        assert second.problem("POST", "/threads", body) == (403, "not_allowed")


def test_the_servers_of_a_window_end_with_it(server: LiveServer, folder: Path) -> None:
    with server.window() as window, window.opened(**brought(folder)):
        (process,) = processes_in(folder)
        assert is_alive(process)

    until_none_in(server, folder)


def test_the_servers_of_a_closed_window_stay_while_its_thread_is_running(
    server: LiveServer, tmp_path: Path, folder: Path
) -> None:
    model = script(tmp_path, {"steps": [{"delay_ms": 600_000}, {"text": "Late."}]})
    with server.window() as window, server.window("other") as other:
        with window.opened(**brought(folder)):
            thread = window.post("/threads", {"kind": "chat", "model": model, "tools": ["old__echo"]})["id"]
            window.post(f"/threads/{thread}/messages", {"text": "Go"})
        assert other.get(f"/threads/{thread}")["status"] == "running"
        assert processes_in(folder)

        other.post(f"/threads/{thread}/stop")
        until_none_in(server, folder)


def test_a_thread_with_servers_of_a_window_is_not_continued_over_tcp(
    server: LiveServer, tmp_path: Path, folder: Path
) -> None:
    with server.window() as window, server.client() as client, window.opened(**brought(folder)):
        thread = window.post("/threads", {"kind": "chat", "model": "scripted:demo", "tools": ["old__echo"]})["id"]

        assert client.problem("POST", f"/threads/{thread}/messages", {"text": "Go"}) == (403, "not_allowed")


def test_a_server_that_does_not_start_is_among_the_problems(server: LiveServer, folder: Path) -> None:
    with server.window() as window, window.opened(**brought(folder, command="/no/such/program")) as facts:
        assert facts["tools"] == []
        assert facts["problems"][0]["server"] == "old"


@pytest.mark.parametrize(
    "body",
    [{"servers": {"old": {"command": "x"}}}, {"servers": {"old": {"command": "x", "cwd": "relative"}}},
     {"servers": {"old": 5}}, {"prices": {"name": "p", "text": "models = 5"}}],
)  # fmt: skip
def test_an_opening_that_cannot_be_used_is_refused(server: LiveServer, body: dict[str, Any]) -> None:
    with server.window() as window:
        assert window.problem("POST", "/local/window", body) == (422, "bad_settings")


@pytest.mark.parametrize("environment", [{"A": 5, "THE_TOKEN": SECRET}, SECRET, [SECRET]])
def test_what_a_window_brings_is_not_quoted(server: LiveServer, environment: Any) -> None:
    with server.window() as window:
        response = window.request("POST", "/local/window", {"environment": environment})

    assert response.status_code == 422
    assert SECRET not in response.text


def test_an_open_window_is_named_and_comes_over_the_socket(server: LiveServer) -> None:
    with server.window() as window, server.client() as client:
        assert window.problem("POST", "/local/window", {}, headers={"antiphon-window": ""}) == (400, "bad_header")
        assert client.problem("POST", "/local/window", {}) == (403, "not_allowed")
        assert client.problem("POST", "/threads", {"kind": "run", "mcp": "/x.toml"}) == (403, "not_allowed")


def test_a_server_with_an_open_window_is_not_idle(server: LiveServer) -> None:
    assert server.local is not None
    server.local.mode = "local"
    with server.window() as window, server.window("other") as other, window.opened():
        assert other.problem("POST", "/local/hand-over", {"ifIdle": True}) == (409, "busy")


def test_a_thread_has_the_prices_of_the_window_that_worked_on_it_last() -> None:
    model = Model("acme:one", "acme", "one")
    windows = Windows()
    prices = WindowPrices(windows)
    for window, amount in (("first", 1), ("second", 2)):
        text = f'[models."acme:one"]\ninput = {amount}\noutput = {amount}\n'
        windows.set_prices(window, Prices.parse(text.encode(), Path("prices.toml")))
        windows.join(window, "thread")
    token = CURRENT.set(Task("t", "thread", "", "", None, "once"))
    try:
        cost = prices.cost(model, Usage(1_000_000))
    finally:
        CURRENT.reset(token)

    assert cost is not None
    assert cost.amount == 2
    assert prices.price(model) is None
