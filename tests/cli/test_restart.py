"""Restarts of `antiphon serve` with running threads, in processes of their own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

PATIENCE_S = 30
TOKEN = "t" * 40
# The reply after an interruption is the next one of the script.
SCRIPT = """
[[replies]]
steps = [{ text = "one two " }, { delay_ms = 60000 }, { text = "three" }]
[[replies]]
steps = [{ text = "three" }]
"""


@contextmanager
def served(folder: Path, *words: str) -> Iterator[tuple[httpx2.Client, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "antiphon", "serve", "--port", "0", "--any-model"]
    command += ["--store", str(folder / "store.db"), *words]
    environment = {**os.environ, "ANTIPHON_SERVER_TOKEN": TOKEN}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        address = process.stdout.readline().partition("?")[0]
        headers = {"authorization": f"Bearer {TOKEN}"}
        try:
            with httpx2.Client(base_url=address, headers=headers, timeout=PATIENCE_S) as client:
                yield client, process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)


def begin_reply(client: httpx2.Client, folder: Path) -> str:
    (folder / "slow.toml").write_text(SCRIPT)
    chat = {"kind": "chat", "model": f"scripted:{folder / 'slow.toml'}"}
    id: str = client.post("/threads", json=chat).json()["id"]
    client.post(f"/threads/{id}/messages", json={"text": "Count"})
    return id


def frames(client: httpx2.Client, id: str, after: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    headers = {"accept": "text/event-stream", **({"last-event-id": after} if after else {})}
    with client.stream("GET", f"/threads/{id}/events", headers=headers) as response:
        fields: dict[str, str] = {}
        for line in response.iter_lines():
            name, _, value = line.partition(": ")
            fields[name] = value
            if not line and "data" in fields:
                yield fields.get("event", fields.get("id", "")), json.loads(fields["data"])
                fields = {}


def read_until_closed(client: httpx2.Client, process: subprocess.Popen[str], id: str) -> tuple[str, str]:
    """Stop the server at the first words of a reply; return the last cursor and the last event."""
    cursor = ""
    for name, value in frames(client, id):
        if name == "closing":
            return cursor, name
        cursor = name
        if value["kind"] == "text":
            process.send_signal(signal.SIGTERM)
    return cursor, ""


def read_statuses(client: httpx2.Client, id: str, after: str, last: str) -> list[str]:
    statuses = []
    for _, value in frames(client, id, after):
        if value.get("kind") == "status":
            statuses.append(value["facts"]["status"])
            if statuses[-1] == last:
                break
    return statuses


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["--resume-interrupted"], ["interrupted", "running", "completed"]), ([], ["interrupted"])],
)
def test_a_running_thread_is_marked_or_resumed_at_the_next_start(
    tmp_path: Path, words: list[str], expected: list[str]
) -> None:
    with served(tmp_path) as (client, process):
        id = begin_reply(client, tmp_path)
        cursor, last = read_until_closed(client, process, id)
    with served(tmp_path, *words) as (client, _):
        statuses = read_statuses(client, id, cursor, expected[-1])

    assert last == "closing"
    assert process.returncode == 0
    assert statuses == expected


def test_a_stopping_server_refuses_new_connections(tmp_path: Path) -> None:
    with served(tmp_path) as (client, process):
        id = begin_reply(client, tmp_path)
        _, last = read_until_closed(client, process, id)
        process.wait(PATIENCE_S)

        assert last == "closing"
        with pytest.raises(httpx2.ConnectError):
            client.get("/healthz")
