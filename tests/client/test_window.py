"""A window whose server is killed: it starts another one, and tells it what the former knew."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.client import ServerUnreachable
from antiphon.client.local import ensure_server, read_server
from antiphon.client.window import WindowClient
from tests.fixtures.local_server import until_gone, windows_on
from tests.fixtures.scripted_team import script


@pytest.fixture
def store(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with windows_on(short_folder, monkeypatch) as path:
        yield path


async def kill_server(path: Path) -> int:
    server = await read_server(path)
    assert server is not None
    os.kill(server.pid, signal.SIGKILL)
    await until_gone(server.pid)
    return server.pid


def writing(folder: Path) -> str:
    """A model that writes a file."""
    write = {"tool": "write_file", "arguments": {"path": "a.txt", "content": "1"}}
    return script(folder, {"after": "write_file", "steps": [{"text": "Done."}]}, {"steps": [write]})


def test_the_next_server_knows_what_the_window_has_given_to_threads(store: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    folder = tmp_path / "work"
    folder.mkdir()

    async def main() -> tuple[int, str, int]:
        path = await ensure_server(store)
        async with WindowClient(path, store, opening={}) as window:
            window.on_restart = lines.append
            settings = {"model": writing(tmp_path), "tools": ["write_file"], "workspace": str(folder), "mode": "ask"}
            thread = await window.threads.create("chat", **settings)
            await window.threads.set_mode(thread, "auto-edit")
            killed = await kill_server(path)
            await window.threads.say(thread, "Go")
            return killed, await window.threads.until_idle(thread), window.restarts

    killed, status, restarts = asyncio.run(main())

    assert (status, restarts) == ("completed", 1)
    assert (folder / "a.txt").read_text() == "1"
    assert lines[0].startswith(f"the server of this store (process {killed}) has ended; process ")


def test_a_server_that_ends_again_and_again_is_given_up(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antiphon.client.window.MOST_RESTARTS", 0)

    async def main() -> None:
        path = await ensure_server(store)
        async with WindowClient(path, store) as window:
            await kill_server(path)
            await window.library.latest()

    with pytest.raises(ServerUnreachable, match=r"it has ended once too often within 60 seconds; see .*\.log"):
        asyncio.run(main())


def test_a_window_that_is_only_looked_at_leaves_its_server_ended(store: Path) -> None:
    async def main() -> bool:
        path = await ensure_server(store)
        async with WindowClient(path, store, opening={}):
            await kill_server(path)
            return await read_server(path) is None

    assert asyncio.run(main())
