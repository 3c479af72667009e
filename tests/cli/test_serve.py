"""The command `antiphon serve`: what it refuses to start, and one session of each kind of thread with curl."""

import argparse
import asyncio
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from antiphon.cli.frame import UsageError
from antiphon.cli.serve.settings import effective_settings, owner_limits, server_settings
from antiphon.cli.serve.tools import open_toolbox
from antiphon.messages import ToolCall
from antiphon.providers.rate_limits import RateLimits
from antiphon.server.tokens import TokenFile
from antiphon.threads.owners import OwnerLimits
from antiphon.tools.sandbox.confinement import confines
from tests.fixtures.command import antiphon, parser_of
from tests.paths import ROOT

TLS = ROOT / "tests" / "providers" / "http" / "tls"
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
def served(
    folder: Path, *words: str, log: bool = False, **variables: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server in a process of its own, ended by its id; its address has the token; `log` lets its log be read."""
    command = [sys.executable, "-m", "antiphon", "serve", "--port", "0", "--store", str(folder / "store.db"), *words]
    environment = {**os.environ, "PYTHONWARNINGS": "error", **variables}
    stderr = subprocess.PIPE if log else None
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment)
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


def test_tls_serves_https_with_a_secure_cookie_and_names_the_policy_of_transport(tmp_path: Path) -> None:
    words = ("--allow-host", "chat.example.org", "--tls-cert", str(TLS / "cert.pem"), "--tls-key", str(TLS / "key.pem"))
    trust = ssl.create_default_context(cafile=TLS / "cert.pem")
    with served(tmp_path, *words) as (printed, _), httpx2.Client(verify=trust, timeout=PATIENCE_S) as client:
        address = printed.partition("?")[0]
        entry = client.get(printed)
        page = client.get(address)
        named = client.get(f"{address}healthz", headers={"host": "chat.example.org"})
        with pytest.raises(httpx2.TransportError):
            httpx2.get(f"{address.replace('https', 'http')}healthz")
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"{address}healthz")  # nobody trusts the certificate by default

    assert address.startswith("https://127.0.0.1:")
    assert entry.headers["set-cookie"].startswith("__Host-antiphon-")
    assert entry.headers["set-cookie"].endswith("; Secure")
    assert page.status_code == 200
    assert named.headers["strict-transport-security"] == "max-age=31536000"
    assert "strict-transport-security" not in page.headers  # other programs share the name of the loopback


def test_the_settings_are_shown_with_their_sources_and_without_secrets(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text("body_s = 5\n")
    environment = {**os.environ, "ANTIPHON_SERVER_TOKEN": TOKEN, "ANTIPHON_SERVER_CONFIG": str(file)}
    shown = [antiphon("serve", "--show-settings", "--port", "0", *more, env=environment) for more in ((), ("--json",))]
    rows = {row["name"]: (row["value"], row["source"]) for row in json.loads(shown[1].stdout)}

    assert not [process for process in shown if process.returncode or TOKEN in process.stdout]
    assert (rows["port"], rows["body_s"]) == ((0, "--port"), (5, str(file)))
    assert rows["token"] == ("hidden", "ANTIPHON_SERVER_TOKEN")
    assert re.search(rf"^body_s +5  \({file}\)$", shown[0].stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--body-s", "0"), "--body-s is '0'; it must be a number from 0.1 to 86,400"),
        (("--config", "/nowhere.toml"), "/nowhere.toml: cannot be read"),
        (("--log-format", "xml"), "one of text, json"),
    ],
)
def test_a_wrong_setting_is_a_wrong_call(words: tuple[str, ...], problem: str) -> None:
    process = antiphon("serve", *words)

    assert (process.returncode, process.stderr.count("\n")) == (2, 1)
    assert problem in process.stderr


def test_users_are_let_in_while_the_server_runs_and_the_log_names_them(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    with served(tmp_path, "--verbose", "--log-format", "json", log=True) as (printed, process):
        address = printed.partition("?")[0]
        token = json.loads(antiphon("tokens", "add", "ann", "--store", store, "--json").stdout)["token"]
        headers = {"authorization": f"Bearer {token}"}
        thread = httpx2.post(f"{address}threads", json={"kind": "chat", "model": "scripted:demo"}, headers=headers)
        antiphon("tokens", "revoke", "ann", "--yes", "--store", store)
        refused = httpx2.get(f"{address}threads", headers=headers)
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        lines = [json.loads(line) for line in process.stderr.read().splitlines()]
        process.stderr.close()

    requests = [line for line in lines if line.get("route") == "/threads"]
    assert (thread.status_code, refused.status_code) == (201, 401)
    assert (requests[0]["user"], requests[0]["thread"]) == ("ann", thread.json()["id"])
    assert requests[0]["request"] == thread.headers["x-request-id"]


def test_limits_of_users_are_those_of_the_settings() -> None:
    words = ("--usd-per-day", "5", "--model-requests-at-once", "2", "--model-tokens-per-minute", "1000")

    assert owner_limits(options(*words)) == OwnerLimits(5.0, RateLimits(2, None, 1000))
    assert owner_limits(options()) == OwnerLimits()


def test_commands_of_the_workspace_see_neither_the_store_nor_the_tokens(tmp_path: Path) -> None:
    store = tmp_path / "other.db"
    TokenFile(Path(f"{store}.server")).add("ann", user="ann", scope="write", expires=None, now=1)
    store.write_text("secret")
    (tmp_path / "plain.txt").write_text("open")
    if not confines(tmp_path):
        pytest.skip("this machine cannot confine commands")

    async def run() -> str:
        async with AsyncExitStack() as stack:
            toolbox = open_toolbox(stack, tmp_path, store)
            assert toolbox is not None
            command = "cat plain.txt other.db other.db.server/tokens.json"
            return str(await toolbox.call(ToolCall("c", "shell", json.dumps({"command": command}))))

    output = asyncio.run(run())
    assert "open" in output
    assert "secret" not in output
    assert "ann" not in output


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


def test_the_page_is_opened_in_a_browser_without_its_token_among_the_arguments(tmp_path: Path) -> None:
    os.mkfifo(seen := tmp_path / "seen")
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\n{{ echo "$1"; stat -c %a "${{1#file://}}"; cat "${{1#file://}}"; }} > {seen}\n')
    browser.chmod(0o755)

    with served(tmp_path, "--open", BROWSER=str(browser)) as (address, _):
        argument, mode, *page = seen.read_text().splitlines()

    assert argument.startswith("file://")
    assert "token" not in argument
    assert mode == "600"
    assert address.strip() in "".join(page)
    assert not Path(argument.removeprefix("file://")).exists()


def test_without_a_display_the_address_is_to_be_opened_by_hand(tmp_path: Path) -> None:
    with served(tmp_path, "--open", log=True, DISPLAY="", WAYLAND_DISPLAY="", BROWSER="") as (_, process):
        assert process.stderr is not None
        with process.stderr as lines:
            assert "no display: open the address" in lines.readline()


def test_a_demonstration_is_not_for_windows() -> None:
    refused = antiphon("serve", "--demo", "--local")

    assert (refused.returncode, "pass one of them" in refused.stderr) == (2, True)
