"""Windows of all kinds at once: runs, debates and chats in terminals of their own; killed windows, killed servers."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon.client.local import read_server
from antiphon.client.starting import socket_path
from tests.fixtures.chats import ECHO, echo_server
from tests.fixtures.command import antiphon
from tests.fixtures.debate_scripts import TOPIC, debaters, prices
from tests.fixtures.local_server import until_gone, windows_on
from tests.fixtures.processes import processes_in
from tests.fixtures.scripted_team import calls, says, script
from tests.fixtures.server import window_client

PLAN = '{"steps": ["Write add.py"], "confidence": 0.9}'
PATIENCE_S = 60
NEVER_MS = 600_000


@pytest.fixture
def store(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("ANTIPHON_TRUSTED_FOLDERS", str(short_folder / "trusted.json"))
    with windows_on(short_folder, monkeypatch) as path:
        monkeypatch.setenv("ANTIPHON_STORE", str(path))
        yield path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(store: Path) -> Iterator[Start]:
    """Starts windows in processes of their own, which are ended before the server: they would start it again."""
    windows: list[subprocess.Popen[str]] = []

    def start_window(*words: object, output: str = "--json") -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "antiphon", *map(str, words), *filter(None, [output])]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        windows.append(subprocess.Popen(command, encoding="utf-8", **pipes))
        return windows[-1]

    yield start_window
    for window in windows:
        window.kill()
        window.communicate()


def until(window: "subprocess.Popen[str]", kind: str) -> list[dict[str, Any]]:
    """What a window prints until the first activity of a kind."""
    assert window.stdout is not None
    rows = []
    for line in window.stdout:
        rows.append(json.loads(line))
        if rows[-1].get("kind") == kind:
            return rows
    assert window.stderr is not None
    raise AssertionError(f"there was no {kind}: {window.stderr.read()}")


def rest_of(window: "subprocess.Popen[str]") -> list[dict[str, Any]]:
    """The rest of what a window prints until it ends by itself."""
    assert window.stdout is not None
    assert window.stderr is not None
    rows = [json.loads(line) for line in window.stdout]  # lines that were read ahead are among them
    assert rows, window.stderr.read()
    window.wait(PATIENCE_S)
    return rows


def end_of(window: "subprocess.Popen[str]") -> dict[str, Any]:
    """The last line of a window that ends by itself."""
    return rest_of(window)[-1]


def writing(tmp_path: Path, delay_ms: int = 0) -> str:
    """A team that writes a file, and then says so after a while."""
    slow = {"system": "developer", "after": "write_file", "steps": [{"delay_ms": delay_ms}, {"text": "Written."}]}
    write = calls("developer", "write_file", {"path": "add.py", "content": "1\n"})
    return script(tmp_path, slow, write, says("planner", PLAN))


def slow_reply(tmp_path: Path, delay_ms: int) -> str:
    """A model that pauses in the middle of a reply."""
    return script(tmp_path, {"steps": [{"text": "Half of "}, {"delay_ms": delay_ms}, {"text": "it."}]})


def slow_debaters(tmp_path: Path) -> tuple[str, Callable[[], None]]:
    """Debaters who take seconds for a word, and a function that makes them quick."""
    slow = debaters(tmp_path, 5_000)
    quick = Path(debaters(tmp_path).removeprefix("scripted:"))
    return slow, lambda: Path(slow.removeprefix("scripted:")).write_text(quick.read_text("utf-8"), "utf-8") and None


def run(model: str, folder: Path, *more: object) -> tuple[object, ...]:
    return "run", "-m", model, "--arbiter", "rules", "--mode", "auto-edit", "--workspace", folder, *more, "Write"


def kill_server(store: Path) -> int:
    """Kill the server of a store; return its process."""
    server = asyncio.run(read_server(socket_path(store)))
    assert server is not None
    os.kill(server.pid, signal.SIGKILL)
    asyncio.run(until_gone(server.pid))
    return server.pid


def statuses() -> dict[str, str]:
    rows = json.loads(antiphon("threads", "list", "--json").stdout)
    return {row["kind"]: row["status"] for row in rows}


@pytest.mark.requirement("X-16")
def test_a_run_a_debate_and_a_chat_work_on_one_store_at_once(start: Start, tmp_path: Path, folder: Path) -> None:
    windows = [
        start(*run(writing(tmp_path), folder)),
        start("debate", TOPIC, "-m", debaters(tmp_path), "--rounds", 1),
        start("chat", "-m", "scripted:demo", "Hello"),
    ]

    ends = [end_of(window) for window in windows]

    assert [end["status"] for end in ends] == ["completed"] * 3
    assert [window.returncode for window in windows] == [0, 0, 0]
    assert statuses() == {"run": "completed", "debate": "completed", "chat": "completed"}
    assert (folder / "add.py").exists()


def test_a_run_has_the_same_activities_and_result_as_in_one_process(start: Start, tmp_path: Path) -> None:
    ends = []
    for name, more in (("here", ["--no-server"]), ("there", [])):
        (tmp_path / name).mkdir()
        ends.append(rest_of(start(*run(writing(tmp_path), tmp_path / name, *more))))
    here, there = ([row["kind"] for row in rows if row["kind"] != "text"] for rows in ends)

    assert here == there
    results = [{key: rows[-1][key] for key in ("status", "success", "reason", "summary", "exit")} for rows in ends]
    assert results[0] == results[1]


def waiting_team(tmp_path: Path) -> str:
    """A team whose command waits until there is a file `go` in its folder."""
    command = {"command": "touch here; until [ -e go ]; do sleep 0.05; done"}
    replies = [says("developer", "Waited.", after="shell"), calls("developer", "shell", command)]
    return script(tmp_path, *replies, says("planner", PLAN))


def test_a_killed_window_of_a_run_disturbs_nobody_and_is_attached_again(
    start: Start, tmp_path: Path, folder: Path
) -> None:
    killed = start(
        "run", "-m", waiting_team(tmp_path), "--arbiter", "rules", "--mode", "auto", "--workspace", folder, "Go"
    )
    debate = start("debate", TOPIC, "-m", debaters(tmp_path), "--rounds", 1)
    until(killed, "tool_called")

    killed.kill()
    killed.communicate()
    resumed = start("run", "--resume", "last", output="")
    assert resumed.stderr is not None
    assert "mode auto" in resumed.stderr.readline()
    (folder / "go").touch()

    assert resumed.communicate(timeout=PATIENCE_S)[0] == "Waited.\n"
    assert end_of(debate)["status"] == "completed"
    assert statuses() == {"run": "completed", "debate": "completed"}


def test_a_run_whose_server_is_killed_goes_on_and_loses_nothing(
    start: Start, store: Path, tmp_path: Path, folder: Path
) -> None:
    window = start(*run(writing(tmp_path, NEVER_MS), folder))
    before = until(window, "tool_ended")
    writing(tmp_path)

    kill_server(store)
    *rest, end = rest_of(window)

    assert (end["status"], end["summary"], window.returncode) == ("completed", "Written.", 0)
    with window_client(socket_path(store)) as client:
        stored = client.get(f"/threads/{end['run']}/events").json()["items"]
    assert [*before, *rest] == stored[-len(before) - len(rest) :]


def test_a_window_says_that_its_server_has_ended_and_which_continues(
    start: Start, store: Path, tmp_path: Path, folder: Path
) -> None:
    window = start(*run(writing(tmp_path, NEVER_MS), folder), output="")
    assert window.stderr is not None
    assert any("write_file ok" in line for line in window.stderr)
    writing(tmp_path)

    killed = kill_server(store)
    lines = window.stderr.read()

    server = asyncio.run(read_server(socket_path(store)))
    assert server is not None
    assert f"the server of this store (process {killed}) has ended; process {server.pid} continues" in lines
    assert "the process of this run was lost; continuing from its last step" in lines


def test_windows_of_a_killed_server_start_one_together_and_go_on(start: Start, store: Path, tmp_path: Path) -> None:
    slow, hurry = slow_debaters(tmp_path)
    model = slow_reply(tmp_path, NEVER_MS)
    windows = [start("chat", "-m", model, "Hello") for _ in range(2)]
    windows.append(start("debate", TOPIC, "-m", slow, "--rounds", 1))
    for window in windows:
        until(window, "text")
    slow_reply(tmp_path, 0)
    hurry()

    kill_server(store)

    ends = [end_of(window) for window in windows]
    assert [end["status"] for end in ends] == ["completed"] * 3
    assert [end["text"].endswith("it.") for end in ends[:2]] == [True, True]
    assert ends[2]["outcome"] == "verdict"


def test_a_debate_is_priced_by_the_file_of_its_window(start: Start, tmp_path: Path) -> None:
    options = ["-m", debaters(tmp_path), "--rounds", 1, "--prices", prices(tmp_path), "--limit", 5]

    end = end_of(start("debate", TOPIC, *options))

    assert end["status"] == "completed"
    assert float(end["result"]["costTracker"]["totalCost"]) > 0


def test_a_chat_has_the_tools_of_its_mcp_servers_in_its_folder(store: Path, tmp_path: Path, folder: Path) -> None:
    servers = echo_server(tmp_path)
    call = {"tool": ECHO, "arguments": {"text": "here"}}
    model = script(tmp_path, {"after": ECHO, "steps": [{"text": "Heard."}]}, {"steps": [call]})

    result = antiphon("chat", "-m", model, "--mcp", servers, "Go", cwd=folder)

    assert f"{ECHO} denied: no user to ask" in result.stderr
    assert "Heard." in result.stdout
    assert asyncio.run(read_server(socket_path(store))) is not None
    asyncio.run(until_none_in(folder))


async def until_none_in(folder: Path) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while processes_in(folder):
            await asyncio.sleep(0.01)


def test_a_run_has_the_tools_of_its_mcp_servers(start: Start, tmp_path: Path, folder: Path) -> None:
    servers = echo_server(tmp_path)
    model = script(tmp_path, says("developer", "Heard it.", after=ECHO), calls("developer", ECHO, {"text": "x"}),
                   says("planner", PLAN))  # fmt: skip

    window = start(*run(model, folder, "--mcp", servers))
    asked = until(window, "agent_waits")[-1]
    window.communicate(timeout=PATIENCE_S)

    assert asked["facts"]["calls"][0]["name"] == ECHO


@pytest.mark.parametrize("words", [("run", "Write"), ("debate", TOPIC)])
def test_without_a_server_nothing_is_started(store: Path, folder: Path, words: tuple[str, str]) -> None:
    command, text = words
    options = ["--workspace", folder, "--mode", "auto-edit"] if command == "run" else ["--rounds", "1"]
    model = "scripted:agents" if command == "run" else "scripted:debate"

    result = antiphon(command, "-m", model, "--no-server", *options, text)

    assert result.returncode == 0, result.stderr
    assert asyncio.run(read_server(socket_path(store))) is None


def test_a_run_without_a_server_gets_the_store_from_an_idle_one(store: Path, folder: Path) -> None:
    antiphon("chat", "-m", "scripted:demo", "Hello")

    result = antiphon("run", "-m", "scripted:agents", "--no-server", "--mode", "auto-edit", "--workspace", folder, "Go")

    assert result.returncode == 0, result.stderr
    assert asyncio.run(read_server(socket_path(store))) is None
