"""Runs and debates on a server elsewhere, in a process of its own with a token: done there, shown and answered here."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.fixtures.command import antiphon
from tests.fixtures.debate_scripts import TOPIC, debaters
from tests.fixtures.screen import Screen
from tests.fixtures.scripted_team import calls, says, script

PATIENCE_S = 60
TOKEN = "canary-token-" + "t" * 30
PLAN = '{"steps": ["Write add.py"], "confidence": 0.9}'
GOOD = "def add(a, b):\n    return a + b\n"
RULES = ("run", "--arbiter", "rules")
# A command that waits for a lost server for an instant only.
IMPATIENT = "import sys; from antiphon.cli.windows import access; access.PATIENCE_S = 0.1\n"
IMPATIENT += "from antiphon.cli.main import main; sys.exit(main())"


@dataclass(frozen=True, slots=True)
class Remote:
    """A server with its folder of tools."""

    process: "subprocess.Popen[str]"
    address: str
    workspace: Path

    @property
    def port(self) -> str:
        return self.address.rpartition(":")[2]


@contextmanager
def served(folder: Path, *words: str, has_tools: bool = True, port: str = "0") -> Iterator[Remote]:
    workspace = folder / "there"
    workspace.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "antiphon", "serve", "--port", port, "--any-model", *words]
    command += ["--store", str(folder / "there.db"), *(("--workspace", str(workspace)) if has_tools else ())]
    # A model that is installed on this machine would be chosen, and it does not play a script.
    environment = {**os.environ, "ANTIPHON_SERVER_TOKEN": TOKEN, "ANTIPHON_MODELS": str(folder / "no-models")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        address = process.stdout.readline().partition("/?")[0]
        try:
            yield Remote(process, address, workspace)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "here.db"))
    monkeypatch.setenv("ANTIPHON_TOKEN", TOKEN)


def writer(folder: Path) -> str:
    return script(
        folder,
        says("developer", "Written.", after="write_file"),
        calls("developer", "write_file", {"path": "add.py", "content": GOOD}),
        says("planner", PLAN),
    )


def test_a_run_uses_the_tools_and_the_folder_of_the_server(tmp_path: Path) -> None:
    with served(tmp_path) as remote:
        words = (*RULES, "-m", writer(tmp_path), "--mode", "auto-edit", "--server", remote.address, "Write add.py")
        result = antiphon(*words, cwd=tmp_path)
        shown = antiphon("runs", "show", "last", "--server", remote.address)

    assert (result.returncode, result.stdout) == (0, "Written.\n"), result.stderr
    assert f"· mode auto-edit · on {remote.address}" in result.stderr
    assert (remote.workspace / "add.py").read_text() == GOOD
    assert not (tmp_path / "add.py").exists()
    assert not (tmp_path / "here.db").exists()
    assert "Write add.py" in shown.stdout
    assert TOKEN not in result.stdout + result.stderr + shown.stdout


def test_permission_is_asked_for_here_and_holds_there(tmp_path: Path) -> None:
    with served(tmp_path) as remote:
        words = (*RULES, "-m", writer(tmp_path), "--server", remote.address, "Write")
        with Screen(*words, columns=100) as screen:
            question = screen.until("allow? > ")
            screen.type("a")
            shown, code = screen.end()

    assert code == 0, shown
    assert "developer requests write_file" in question
    assert (remote.workspace / "add.py").read_text() == GOOD


def test_a_run_is_refused_where_threads_have_no_tools(tmp_path: Path) -> None:
    with served(tmp_path, has_tools=False) as remote:
        result = antiphon(*RULES, "-m", writer(tmp_path), "--server", remote.address, "Write")
        listed = antiphon("runs", "list", "--server", remote.address)

    assert result.returncode == 2
    assert "lets threads use no tools" in result.stderr
    assert "antiphon serve --workspace DIR" in result.stderr
    assert listed.stdout.startswith("no runs yet")


def test_the_model_is_one_that_the_server_can_use(tmp_path: Path) -> None:
    with served(tmp_path) as remote:
        result = antiphon("run", "--dry-run", "--server", remote.address, "Write")

    assert result.returncode == 0, result.stderr
    assert '"steps"' in result.stdout


def test_a_chat_without_a_model_takes_that_of_the_server_and_not_that_of_the_keys_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path) as remote:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a key of this machine")
        result = antiphon("chat", "--server", remote.address, "Hello")

    assert result.returncode == 0, result.stderr
    assert f"model: scripted:chat (chosen by what {remote.address} can use)" in result.stderr


def test_a_debate_is_held_there(tmp_path: Path) -> None:
    with served(tmp_path) as remote:
        words = ("debate", "-m", debaters(tmp_path), "--rounds", "1", "--server", remote.address, TOPIC)
        result = antiphon(*words)
        again = antiphon("debate", "--resume", "last", "--server", remote.address)

    assert result.returncode == 0, result.stderr
    assert "antiphon debates show " in result.stderr
    assert f" --server {remote.address}" in result.stderr
    assert (again.returncode, "has ended" in again.stderr) == (2, True)
    assert not (tmp_path / "here.db").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--workspace", ".", "Write"),
        ("run", "--mcp", "servers.toml", "Write"),
        ("run", "--store", "own.db", "--resume", "last"),
        ("debate", "--store", "own.db", TOPIC),
        ("debate", "--prices", "prices.toml", TOPIC),
    ],
)
def test_options_of_this_machine_are_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    result = antiphon(*words, "--server", "http://127.0.0.1:9", cwd=tmp_path)

    assert result.returncode == 2
    assert f"remove {words[1]}" in result.stderr
    assert list(tmp_path.iterdir()) == []


COMMANDS = [("run", "Write"), ("debate", TOPIC), ("run", "--resume", "last"), ("debate", "--resume", "last")]
IDS = [" ".join(words[:2]) for words in COMMANDS]


@pytest.mark.parametrize("words", COMMANDS, ids=IDS)
def test_a_server_that_is_not_there_is_said(words: tuple[str, ...]) -> None:
    result = antiphon(*words, "--server", "http://127.0.0.1:9")

    assert result.returncode == 1
    assert "no answer from http://127.0.0.1:9" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_wrong_token_is_refused_with_where_to_put_the_right_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = "wrong-" + "w" * 40
    monkeypatch.setenv("ANTIPHON_TOKEN", wrong)
    with served(tmp_path) as remote:
        results = [antiphon(*words, "--server", remote.address) for words in COMMANDS]

    assert [result.returncode for result in results] == [1] * len(COMMANDS)
    assert all("--token-file" in result.stderr and wrong not in result.stderr for result in results)


class OtherProgram(BaseHTTPRequestHandler):
    """A web server that is not Antiphon."""

    def do_GET(self) -> None:
        body = b"<h1>Welcome</h1>"
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: Any) -> None:
        pass


@pytest.mark.parametrize("words", COMMANDS, ids=IDS)
def test_an_answer_of_another_program_is_said(words: tuple[str, ...]) -> None:
    with HTTPServer(("127.0.0.1", 0), OtherProgram) as other:
        Thread(target=other.serve_forever, daemon=True).start()
        result = antiphon(*words, "--server", f"http://127.0.0.1:{other.server_port}")
        other.shutdown()

    assert result.returncode == 1
    assert "another program answers there; check the address" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def begin(*words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", IMPATIENT, *words]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def read_until(process: "subprocess.Popen[str]", text: str) -> str:
    assert process.stderr is not None
    return next(line for line in process.stderr if text in line)


def test_a_run_whose_server_is_gone_says_how_to_continue_and_continues(tmp_path: Path) -> None:
    slow = {"system": "developer", "after": "write_file", "steps": [{"delay_ms": 600_000}, {"text": "Late."}]}
    call = calls("developer", "write_file", {"path": "add.py", "content": GOOD})
    model = script(tmp_path, slow, call, says("planner", PLAN))
    with served(tmp_path) as remote:
        window = begin(*RULES, "-m", model, "--mode", "auto-edit", "--server", remote.address, "Write")
        id = read_until(window, "run ").split()[1]
        read_until(window, "← write_file ok")
        remote.process.kill()
        _, error = window.communicate(timeout=PATIENCE_S)
    script(tmp_path, says("developer", "Done after all.", after="write_file"))
    with served(tmp_path, port=remote.port):
        resumed = antiphon("run", "--resume", id[:6], "--server", remote.address)

    assert window.returncode == 1
    assert f"no answer from {remote.address}" in error
    assert f"continue with: antiphon run --resume {id} --server {remote.address}" in error
    assert (resumed.returncode, resumed.stdout) == (0, "Done after all.\n"), resumed.stderr


def test_a_debate_whose_server_is_gone_says_how_to_continue_and_continues(tmp_path: Path) -> None:
    model = debaters(tmp_path, 200)
    with served(tmp_path) as remote:
        window = begin("debate", "-m", model, "--rounds", "1", "--json", "--server", remote.address, TOPIC)
        assert window.stdout is not None
        next(line for line in window.stdout if json.loads(line)["kind"] == "text")
        remote.process.kill()
        _, error = window.communicate(timeout=PATIENCE_S)
    id = error.partition("--resume ")[2].split()[0]
    debaters(tmp_path)
    (tmp_path / "debate-200.toml").write_text((tmp_path / "debate-0.toml").read_text("utf-8"), "utf-8")
    with served(tmp_path, port=remote.port):
        resumed = antiphon("debate", "--resume", id, "--server", remote.address)

    assert window.returncode == 1
    assert f"continue with: antiphon debate --resume {id} --server {remote.address}" in error
    assert resumed.returncode == 0, resumed.stderr


def test_the_mode_of_a_run_is_not_changed_from_elsewhere(tmp_path: Path) -> None:
    slow = {"system": "developer", "steps": [{"delay_ms": 600_000}, {"text": "Late."}]}
    with served(tmp_path) as remote:
        window = begin(*RULES, "-m", script(tmp_path, slow, says("planner", PLAN)), "--server", remote.address, "Write")
        read_until(window, "developer")
        window.kill()
        window.communicate()
        result = antiphon("run", "--resume", "last", "--mode", "auto", "--server", remote.address)

    assert result.returncode == 1
    assert "the mode of a thread is changed on the machine of the store" in result.stderr
