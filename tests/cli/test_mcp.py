"""`antiphon mcp` as a process: messages on standard input and output, and nothing else there."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.command import antiphon
from tests.fixtures.scripted_team import script

PATIENCE_S = 30
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Client:
    """Writes and reads lines."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.id = 0

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))  # each line is a message

    def send(self, method: str, params: dict[str, Any], **more: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}))

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.id += 1
        self.send(method, params, id=self.id)
        while "method" in (message := self.read()):
            pass
        assert message["id"] == self.id
        return dict(message["result"])

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})


@contextmanager
def serving(store: Path, *words: str) -> Iterator[Client]:
    command = [sys.executable, "-m", "antiphon", "mcp", "--store", str(store), *words]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            client = Client(process)
            assert client.request("initialize", CLIENT)["serverInfo"]["name"] == "antiphon"
            client.send("notifications/initialized", {})
            yield client
        finally:
            process.kill()


def test_a_client_talks_and_ends_the_process_by_closing_its_input(tmp_path: Path) -> None:
    with serving(tmp_path / "a.db") as client:
        tools = client.request("tools/list", {})["tools"]
        reply = client.call("send_message", text="Hello", model="scripted:demo")
        client.write("this is no message")
        after = client.call("list_threads")
        rest, errors = client.process.communicate(timeout=PATIENCE_S)

    assert "send_message" in {tool["name"] for tool in tools}
    assert reply["structuredContent"]["text"].startswith("Hello! I am a script")
    assert [row["id"] for row in after["structuredContent"]["items"]] == [reply["structuredContent"]["thread"]]
    assert (client.process.returncode, rest, errors) == (0, "", "")
    listed = antiphon("threads", "list", "--store", str(tmp_path / "a.db")).stdout
    assert reply["structuredContent"]["thread"][:8] in listed


def test_tools_of_a_folder_are_asked_about_and_write_nothing_to_the_client(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    step = {"tool": "shell", "arguments": {"command": "cat; echo words; touch made"}}
    model = script(tmp_path, {"after": "shell", "steps": [{"text": "Done."}]}, {"steps": [step]})
    with serving(tmp_path / "a.db", "--workspace", str(folder), "--any-model") as client:
        asked = client.call("send_message", text="Go", model=model, tools=["shell"])["structuredContent"]
        (request,) = asked["requests"]
        assert not (folder / "made").exists()
        done = client.call("answer_request", thread=asked["thread"], requestId=request["id"], decision="allow")

    assert done["structuredContent"]["text"] == "Done."
    assert (folder / "made").exists()


def test_without_a_folder_there_are_no_tools_and_no_models_by_file(tmp_path: Path) -> None:
    model = script(tmp_path, {"steps": [{"text": "Hello."}]})
    with serving(tmp_path / "a.db") as client:
        tools = client.call("send_message", text="Go", model="scripted:demo", tools=["shell"])
        file = client.call("send_message", text="Go", model=model)

    assert tools["content"][0]["text"].startswith("not_allowed: ")
    assert file["content"][0]["text"].startswith("unusable_model: ")


def test_a_store_that_is_in_use_is_not_served_twice(tmp_path: Path) -> None:
    with serving(tmp_path / "a.db") as client:
        second = antiphon("mcp", "--store", str(tmp_path / "a.db"))

        assert (second.returncode, second.stdout) == (1, "")
        assert f"in use by process {client.process.pid}" in second.stderr
        assert "connect the client to /mcp" in second.stderr


def test_ctrl_c_ends_the_process_though_its_input_is_open(tmp_path: Path) -> None:
    with serving(tmp_path / "a.db") as client:
        client.process.send_signal(signal.SIGINT)

        assert client.process.wait(PATIENCE_S) == 130


@pytest.mark.parametrize("words", [("--workspace", "no-such-folder")])
def test_a_wrong_call_says_what_is_wrong(tmp_path: Path, words: tuple[str, ...]) -> None:
    result = antiphon("mcp", "--store", str(tmp_path / "a.db"), *words)

    assert (result.returncode, result.stdout) == (2, "")
    assert "no such folder" in result.stderr
