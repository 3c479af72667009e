"""`antiphon serve` beside the server that a window has started: it takes the store over, and windows go on."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from antiphon.client.local import ensure_server, read_server
from antiphon.client.starting import socket_path
from tests.fixtures.local_server import windows_on
from tests.fixtures.server import PATIENCE_S, frames, window_client

SLOW = '[[replies]]\nsteps = [{text = "One "}, {delay_ms = 60000}, {text = "two."}]\n'


@pytest.fixture
def store(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with windows_on(short_folder, monkeypatch) as path:
        yield path


@contextmanager
def serve(store: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`antiphon serve` in a process of its own, with the line that it prints."""
    command = [sys.executable, "-m", "antiphon", "serve", "--port", "0", "--store", str(store), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        yield process, process.stdout.readline()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
        process.stdout.close()
        process.stderr.close()


def test_serve_takes_the_store_over_and_windows_continue_where_they_were(store: Path) -> None:
    model = store.with_name("slow.toml")
    model.write_text(SLOW)
    path = asyncio.run(ensure_server(store))
    with window_client(path) as window:
        thread = window.post("/threads", json={"kind": "chat", "model": f"scripted:{model}"}).json()["id"]
        cursor = window.post(f"/threads/{thread}/messages", json={"text": "Count"}).json()["cursor"]
        headers = {"accept": "text/event-stream"}
        with window.stream("GET", f"/threads/{thread}/events", headers=headers) as stream:
            lines = frames(stream.iter_lines())
            cursor = next(frame["id"] for frame in lines if "One" in json.dumps(frame.get("data")))
            with serve(store) as (process, line):
                assert [frame for frame in lines if frame.get("event") == "closing"]
                server = asyncio.run(read_server(path))
                with window_client(path) as again:
                    page = again.get(f"/threads/{thread}").json()
                    later = again.get(f"/threads/{thread}/events", params={"after": cursor}).json()
                    model.write_text('[[replies]]\nsteps = [{text = "Done."}]\n')
                    again.post(f"/threads/{thread}/resume")
                    with again.stream("GET", f"/threads/{thread}/events", headers=headers) as rest:
                        texts = (json.dumps(frame.get("data")) for frame in frames(rest.iter_lines()))
                        assert any("Done." in text or '"failed"' in text for text in texts)
                    result = again.get(f"/threads/{thread}").json()

    assert line.startswith("http://127.0.0.1:")
    assert server is not None
    assert (server.pid, server.mode) == (process.pid, "serve")
    assert page["status"] == "interrupted"
    assert "One" not in json.dumps(later["items"][0])
    assert result["error"] is None


def test_a_store_that_is_served_already_is_not_taken_over(store: Path) -> None:
    with serve(store) as (first, _), serve(store) as (second, line):
        assert second.stderr is not None
        problem = second.stderr.read()

    assert line == ""
    assert f"is served by process {first.pid} already; use that server, or end it with: kill {first.pid}" in problem


def test_a_window_uses_the_server_that_a_person_has_started(store: Path) -> None:
    with serve(store) as (process, _):
        path = asyncio.run(ensure_server(store))
        server = asyncio.run(read_server(path))

    assert server is not None
    assert server.pid == process.pid


def test_without_windows_serve_opens_no_socket(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_SERVER", "off")

    with serve(store) as (_, line):
        assert line.startswith("http://")
        assert not socket_path(store).exists()


def test_a_thread_of_a_killed_server_is_interrupted_and_continued_by_the_next(store: Path) -> None:
    model = store.with_name("slow.toml")
    model.write_text(SLOW)
    path = asyncio.run(ensure_server(store))
    server = asyncio.run(read_server(path))
    assert server is not None
    with window_client(path) as window:
        thread = window.post("/threads", json={"kind": "chat", "model": f"scripted:{model}"}).json()["id"]
        window.post(f"/threads/{thread}/messages", json={"text": "Count"})
    os.kill(server.pid, signal.SIGKILL)
    model.write_text('[[replies]]\nsteps = [{text = "Done."}]\n')

    with window_client(asyncio.run(ensure_server(store))) as window:
        status = window.get(f"/threads/{thread}").json()["status"]
        answer = window.post(f"/threads/{thread}/resume")

    assert status == "interrupted"
    assert answer.status_code == 202
