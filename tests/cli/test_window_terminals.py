"""Windows in real terminals: what is asked is answered there, Ctrl-C stops, and a killed server is started again."""

import asyncio
import os
import signal

import pytest

from antiphon.client.local import read_server
from antiphon.client.starting import socket_path
from tests.fixtures.chats import ECHO, echo_server
from tests.fixtures.local_server import until_gone, windows_on
from tests.fixtures.processes import processes_in
from tests.fixtures.screen import Screen
from tests.fixtures.scripted_team import calls, says, script

CUT, LEAVE = b"\x03", b"\x04"
ASKED = "show everything again\nallow? > "
PROMPT = "\n> "


@pytest.fixture
def store(short_folder, tmp_path, monkeypatch):
    with windows_on(short_folder, monkeypatch) as path:
        monkeypatch.setenv("ANTIPHON_STORE", str(path))
        yield path


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "work"
    path.mkdir()
    return path


def team(tmp_path, *replies):
    return script(tmp_path, *replies, says("planner", '{"steps": ["Write"], "confidence": 0.9}'))


def at_work(model, folder):
    return Screen("run", "-m", model, "--arbiter", "rules", "--workspace", folder, "Write", columns=100)


def writer(tmp_path):
    write = calls("developer", "write_file", {"path": "a.py", "content": "1\n"})
    return team(tmp_path, says("developer", "First is written.", after="write_file"), write)


def kill_server(store):
    server = asyncio.run(read_server(socket_path(store)))
    os.kill(server.pid, signal.SIGKILL)
    asyncio.run(until_gone(server.pid))


def test_a_permission_is_given_in_the_window_and_the_tool_runs_in_its_folder(store, tmp_path, folder):
    with at_work(writer(tmp_path), folder) as screen:
        screen.until("mode ask · in ")
        screen.until(ASKED)
        screen.type("a")
        screen.until("← write_file ok")
        _, code = screen.end()

    assert code == 0
    assert (folder / "a.py").read_text() == "1\n"
    assert asyncio.run(read_server(socket_path(store))) is not None


def test_control_c_stops_a_run_and_its_command_in_the_server(store, tmp_path, folder):
    model = team(tmp_path, calls("developer", "shell", {"command": "touch here; sleep 600"}))
    with at_work(model, folder) as screen:
        screen.until(ASKED)
        screen.type("a")
        while not (folder / "here").exists():
            screen.until("iteration 2 of 50")
        screen.press(CUT)
        shown, code = screen.end()

    assert code == 130
    assert "cancelled; changes so far are kept" in shown
    assert processes_in(folder) == []


def test_a_command_runs_outside_the_sandbox_if_the_window_allows_it(store, tmp_path, folder):
    command = "touch outside; echo $PPID"
    done = says("developer", "Done.", after="shell")
    with at_work(team(tmp_path, done, calls("developer", "shell", {"command": command})), folder) as screen:
        asked = screen.until(ASKED)
        assert "o  allow once, OUTSIDE the sandbox" in asked
        screen.type("o")
        screen.until("← shell ok")
        _, code = screen.end()

    assert code == 0
    assert (folder / "outside").exists()


def test_a_permission_that_a_killed_server_asked_for_is_not_given_and_asked_for_again(store, tmp_path, folder):
    with at_work(writer(tmp_path), folder) as screen:
        screen.until(ASKED)
        kill_server(store)
        screen.type("a")
        screen.until("has ended; process ")
        screen.until("process of this run was lost; continuing from its last step")
        asked = screen.until(ASKED)
        assert list(folder.iterdir()) == []
        screen.type("a")
        screen.until("First is written.")
        _, code = screen.end()

    assert code == 0
    assert "a.py" in asked
    assert (folder / "a.py").read_text() == "1\n"


def test_a_chat_at_its_prompt_starts_the_server_again_with_its_mcp_servers(store, tmp_path):
    call = {"tool": ECHO, "arguments": {"text": "here"}}
    model = script(tmp_path, {"after": ECHO, "steps": [{"text": "Heard."}]}, {"steps": [call]})
    with Screen("chat", "-m", model, "--mcp", echo_server(tmp_path), columns=100) as screen:
        screen.until(PROMPT)
        kill_server(store)
        screen.type("Say it")
        screen.until("has ended; process ")
        screen.until(ASKED)
        screen.type("a")
        screen.until("← old__echo ok")
        screen.until("Heard.")
        screen.until(PROMPT)
        screen.press(LEAVE)
        _, code = screen.end()

    assert code == 0


def test_a_permission_of_a_chat_is_asked_for_again_after_its_server_and_its_terminal_were_killed(store, tmp_path):
    call = {"tool": ECHO, "arguments": {"text": "here"}}
    model = script(tmp_path, {"after": ECHO, "steps": [{"text": "Heard."}]}, {"steps": [call]})
    servers = echo_server(tmp_path)
    with Screen("chat", "-m", model, "--mcp", servers, columns=100) as screen:
        screen.until(PROMPT)
        screen.type("Say it")
        screen.until(ASKED)
        screen.process.kill()
        kill_server(store)
    with Screen("resume", columns=100) as screen:
        screen.until(ASKED)
        screen.type("a")
        screen.until("Heard.")
        screen.until(PROMPT)
        screen.press(LEAVE)
        _, code = screen.end()

    assert code == 0
