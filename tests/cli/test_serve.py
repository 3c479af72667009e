"""The command `antiphon serve`: what it refuses to start, and one session of each kind of thread with curl."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from antiphon.cli.frame import UsageError
from antiphon.cli.server_settings import effective_settings, server_settings
from tests.fixtures.command import parser_of

PATIENCE_S = 30
TOPIC = "Should a city close its centre to private cars?"
TOKEN = "t" * 40


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))


def options(*words: str, **environment: str) -> argparse.Namespace:
    """The settings of a command, without those of this machine."""
    parsed = parser_of("serve").parse_args(words)
    settings = effective_settings(parsed, {"ANTIPHON_SERVER_CONFIG": "/nowhere", **environment})
    return argparse.Namespace(**{name: effective.value for name, effective in settings.items()})


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--host", "0.0.0.0"), "pass --tls-cert and --tls-key"),
        (("--host", "192.168.1.5"), "--behind-proxy"),
        (("--host", "::"), "can be reached from other machines"),
        (("--host", "example.org"), "can be reached from other machines"),
        (("--host", "0.0.0.0", "--behind-proxy"), "--allow-host NAME"),
        (("--tls-cert", "c.pem"), "pass both"),
        (("--host", "0.0.0.0", "--tls-key", "k.pem"), "pass both"),
    ],
)
def test_a_server_that_others_could_reach_unprotected_does_not_start(words: tuple[str, ...], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        server_settings(options(*words))


@pytest.mark.parametrize("token", ["", "short", "é" * 40, "a b\n" * 20])
def test_a_weak_token_is_refused(token: str) -> None:
    with pytest.raises(UsageError, match="at least 32"):
        server_settings(options(ANTIPHON_SERVER_TOKEN=token))


def test_the_loopback_is_the_default_with_a_random_token() -> None:
    binding, settings = server_settings(options())
    _, other = server_settings(options())

    assert (binding.host, settings.hosts) == ("127.0.0.1", ("127.0.0.1", "localhost", "[::1]"))
    assert len(settings.token) >= 43
    assert settings.token != other.token
    assert settings.token not in repr(settings)


def test_names_and_tls_are_those_of_the_operator() -> None:
    words = ("--host", "0.0.0.0", "--allow-host", "Chat.example.org", "--tls-cert", "c.pem", "--tls-key", "k.pem")
    binding, settings = server_settings(options(*words, ANTIPHON_SERVER_TOKEN=TOKEN))

    assert "chat.example.org" in settings.hosts
    assert (settings.scheme, settings.token, binding.certificate) == ("https", TOKEN, Path("c.pem"))


@contextmanager
def served(folder: Path, *words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server in a process of its own, ended by its id; its address has the token."""
    command = [sys.executable, "-m", "antiphon", "serve", "--port", "0", "--store", str(folder / "store.db"), *words]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONWARNINGS": "error"}
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
        process.stdout.close()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_holds_a_session_of_each_kind(tmp_path: Path) -> None:
    with served(tmp_path) as (printed, process):
        address, _, token = printed.partition("?token=")

        def curl(path: str, body: Any = None, *more: str) -> str:
            command = ["curl", "-sS", "-N", "-m", str(PATIENCE_S), "-H", f"Authorization: Bearer {token}", *more]
            if body is not None:
                command += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
            return subprocess.run([*command, address + path], capture_output=True, text=True, check=True).stdout

        chat = json.loads(curl("threads", {"kind": "chat", "model": "scripted:demo"}))["id"]
        curl(f"threads/{chat}/messages", {"text": "Hello"})
        run = json.loads(curl("threads", {"kind": "run", "model": "scripted:agents", "dryRun": True}))["id"]
        curl(f"threads/{run}/start", {"text": "Write a program that greets"})
        debate = {"kind": "debate", "topic": TOPIC, "models": ["scripted:debate"], "maxRounds": 1}
        debate_id = json.loads(curl("threads", debate))["id"]
        curl(f"threads/{debate_id}/start", {})
        texts = [wait_for_end(curl, id) for id in (chat, run, debate_id)]
        statuses = [json.loads(curl(f"threads/{id}"))["status"] for id in (chat, run, debate_id)]

    assert "Hello!" in texts[0]
    assert statuses == ["completed", "completed", "completed"]
    assert process.returncode == 0


def wait_for_end(curl: Any, id: str) -> str:
    """Read pages of activities until the thread has ended its work; return the texts of models."""
    text = ""
    after = ""
    while True:
        page = json.loads(curl(f"threads/{id}/events?after={after}", None, "-H", "Accept: application/json"))
        after = page["cursor"]
        for activity in page["items"]:
            text += activity["facts"]["text"] if activity["kind"] == "text" else ""
            if activity["kind"] == "status" and activity["facts"]["status"] == "completed":
                return text


def test_a_workspace_switches_tools_on(tmp_path: Path) -> None:
    with served(tmp_path, "--workspace", str(tmp_path)) as (printed, _):
        address, _, token = printed.partition("?token=")
        command = ["curl", "-sS", "-H", f"Authorization: Bearer {token}", f"{address}tools"]
        tools = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["items"]

    assert {"shell", "read_file", "write_file"} <= {tool["name"] for tool in tools}


def test_a_port_that_is_taken_and_a_folder_that_is_not_there_are_wrong_calls(tmp_path: Path) -> None:
    with served(tmp_path) as (printed, _):
        port = printed.partition("?")[0].strip("/").rpartition(":")[2]
        words = [sys.executable, "-m", "antiphon", "serve", "--store", str(tmp_path / "other.db")]
        taken = subprocess.run([*words, "--port", port], capture_output=True, text=True, check=False)
        missing = subprocess.run([*words, "--workspace", "nowhere"], capture_output=True, text=True, check=False)

    assert (taken.returncode, missing.returncode) == (2, 2)
    assert "choose another with --port" in taken.stderr
    assert "no such folder" in missing.stderr


def test_other_commands_load_nothing_of_the_server() -> None:
    code = (
        "import sys, antiphon, antiphon.cli.main, antiphon.cli.chat.command, antiphon.app, antiphon.cli.serve; "
        "print(sorted({'fastapi', 'starlette', 'uvicorn', 'uvloop', 'pydantic'} & {*sys.modules}))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert result.stdout.strip() == "[]"
