"""The server of this machine: the path of its socket, finding it, starting it once, and its end."""

import argparse
import asyncio
import fcntl
import json
import os
import signal
import socket
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.client import local, starting
from antiphon.client.local import ensure_server, find_server, read_server, request
from antiphon.client.starting import (
    LocalServerError,
    ServerFailed,
    StartingServer,
    is_enabled,
    log_path,
    server_environment,
    socket_path,
    spawn_server,
    start_early,
)
from tests.fixtures.local_server import is_alive, until_gone, windows_on


@pytest.fixture
def store(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with windows_on(short_folder, monkeypatch) as path:
        yield path


def test_the_socket_is_in_a_private_folder_and_named_by_the_store(store: Path) -> None:
    path = socket_path(store)
    link = store.parent / "link"
    link.symlink_to(store.parent)

    assert path == socket_path(link / "store.db")
    assert path != socket_path(store.with_name("other.db"))
    assert path.parent == Path(os.environ["XDG_RUNTIME_DIR"]) / "antiphon"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_without_a_runtime_folder_the_socket_is_in_a_folder_of_the_user(short_folder: Path) -> None:
    path = socket_path(Path("x.db"), {"TMPDIR": str(short_folder)})

    assert path.parent == short_folder / f"antiphon-{os.getuid()}"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_folder_that_others_can_enter_is_made_private(short_folder: Path) -> None:
    folder = short_folder / "antiphon"
    folder.mkdir()
    folder.chmod(0o777)

    socket_path(Path("x.db"), {"XDG_RUNTIME_DIR": str(short_folder)})

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_is_a_link_is_refused(short_folder: Path) -> None:
    (short_folder / "antiphon").symlink_to("/tmp")

    with pytest.raises(LocalServerError, match="belongs to another user"):
        socket_path(Path("x.db"), {"XDG_RUNTIME_DIR": str(short_folder)})


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(short_folder: Path) -> None:
    (short_folder / "antiphon").mkdir()
    os.chown(short_folder / "antiphon", 65_534, 65_534)

    with pytest.raises(LocalServerError, match="belongs to another user; set XDG_RUNTIME_DIR"):
        socket_path(Path("x.db"), {"XDG_RUNTIME_DIR": str(short_folder)})


def test_a_path_that_is_too_long_for_a_socket_is_replaced_or_refused(short_folder: Path) -> None:
    long = short_folder / ("x" * 100)

    assert socket_path(Path("x.db"), {"XDG_RUNTIME_DIR": str(long), "TMPDIR": str(short_folder)}).is_relative_to(
        short_folder / f"antiphon-{os.getuid()}"
    )
    with pytest.raises(LocalServerError, match="too long for a socket"):
        socket_path(Path("x.db"), {"XDG_RUNTIME_DIR": str(long), "TMPDIR": str(long)})


@pytest.mark.parametrize(
    ("environ", "no_server", "expected"),
    [({}, False, True), ({}, True, False), ({"ANTIPHON_SERVER": "off"}, False, False),
     ({"ANTIPHON_SERVER": "OFF "}, False, False), ({"ANTIPHON_SERVER": "on"}, False, True)],
)  # fmt: skip
def test_a_server_is_used_unless_it_is_switched_off(environ: dict[str, str], no_server: bool, expected: bool) -> None:
    assert is_enabled(environ, argparse.Namespace(no_server=no_server)) is expected


def test_without_its_packages_no_server_is_used_and_the_error_names_the_extra(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "PACKAGES", ("no_such_package",))

    assert not is_enabled({})
    with pytest.raises(LocalServerError, match=r"pip install 'antiphon\[server\]'"):
        asyncio.run(ensure_server(store))


def test_the_server_inherits_no_secrets() -> None:
    environ = {"PATH": "/bin", "OPENAI_API_KEY": "x", "GH_TOKEN": "x", "ANTIPHON_KEYS": "/k", "ANTIPHON_SERVER": "on"}

    assert server_environment(environ) == {"PATH": "/bin", "ANTIPHON_KEYS": "/k"}


def test_three_windows_at_once_start_one_server(store: Path) -> None:
    code = (
        "import asyncio, sys; from pathlib import Path; from antiphon.client.local import ensure_server, read_server\n"
        "path = asyncio.run(ensure_server(Path(sys.argv[1]))); print(asyncio.run(read_server(path)).pid)"
    )

    async def start_three() -> list[int]:
        starters = [
            await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(store), stdout=asyncio.subprocess.PIPE)
            for _ in range(3)
        ]
        return [int((await starter.communicate())[0]) for starter in starters]

    pids = asyncio.run(start_three())

    assert len(set(pids)) == 1
    assert os.getsid(pids[0]) == pids[0] != os.getsid(0)


def test_a_socket_that_a_killed_server_has_left_is_replaced(store: Path) -> None:
    async def scenario() -> tuple[int, int]:
        path = await ensure_server(store)
        first = await read_server(path)
        assert first is not None
        os.kill(first.pid, signal.SIGKILL)
        await until_gone(first.pid)
        assert path.is_socket()
        assert await find_server(store) is None
        second = await read_server(await ensure_server(store))
        assert second is not None
        return first.pid, second.pid

    first, second = asyncio.run(scenario())

    assert first != second


def test_a_file_that_is_no_server_is_not_found(store: Path) -> None:
    path = socket_path(store)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))

        assert asyncio.run(find_server(store)) is None
    path.unlink()
    path.write_text("no socket")
    assert asyncio.run(find_server(store)) is None


def test_the_server_says_what_it_is_and_its_files_are_private(store: Path) -> None:
    path = asyncio.run(ensure_server(store))

    status, about = asyncio.run(request(path, "GET", "/local"))

    assert status == 200
    assert about["store"] == str(store.resolve())
    assert about["mode"] == "local"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log_path(store).stat().st_mode) == 0o600


def test_an_idle_server_ends_and_removes_its_socket(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_SERVER_IDLE_S", "0.2")

    async def scenario() -> Path:
        path = await ensure_server(store)
        server = await read_server(path)
        assert server is not None
        await until_gone(server.pid)
        return path

    assert not asyncio.run(scenario()).exists()


def test_an_idle_server_of_another_version_ends(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        path = await ensure_server(store)
        server = await read_server(path)
        assert server is not None
        monkeypatch.setattr(local, "VERSION", "9.9.9")
        await local._replace(path, server)
        await until_gone(server.pid)

    asyncio.run(scenario())

    assert asyncio.run(find_server(store)) is None


def test_a_busy_server_of_another_version_is_refused_with_the_command_to_use(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "VERSION", "9.9.9")

    async def scenario() -> str:
        path = socket_path(store)
        await local._until_ready(store, spawn_server(store))
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(b"GET /events HTTP/1.1\r\nHost: local\r\nAccept: text/event-stream\r\n\r\n")
        await reader.readuntil(b"behind")
        try:
            with pytest.raises(LocalServerError) as caught:
                await ensure_server(store)
        finally:
            writer.close()
        return str(caught.value)

    message = asyncio.run(scenario())

    assert "and this is 9.9.9; use that version, or end its server with: kill " in message


def test_a_store_that_another_program_owns_is_named_in_the_error(store: Path) -> None:
    with store.with_name(f"{store.name}.lock").open("w") as file:
        file.write(json.dumps({"pid": os.getpid(), "since": int(time.time())}))
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)

        with pytest.raises(LocalServerError, match=f"in use by process {os.getpid()}"):
            asyncio.run(ensure_server(store))


def test_a_server_is_started_early_and_waited_for_later(store: Path) -> None:
    async def scenario() -> tuple[int, StartingServer | None]:
        early = start_early(store)
        assert early is not None
        assert start_early(store) is None  # it is the turn of the first
        path = await ensure_server(store, started=early)
        server = await read_server(path)
        assert server is not None
        return server.pid, start_early(store)

    pid, again = asyncio.run(scenario())

    assert again is None
    assert is_alive(pid)


def test_a_server_that_fails_after_an_early_start_is_reported(store: Path) -> None:
    store.write_text("not a database " * 100)
    early = start_early(store)

    with pytest.raises(ServerFailed, match=f"^{store}: ") as caught:
        asyncio.run(ensure_server(store, started=early))

    assert "--no-server" not in str(caught.value)  # it would fail there, too


def test_a_server_that_reports_nothing_can_be_done_without() -> None:
    error = local._start_error("Traceback (most recent call last):\nMemoryError", 1)

    assert isinstance(error, ServerFailed)
    assert str(error).endswith("MemoryError\nor use --no-server")


def test_settings_that_a_server_cannot_use_are_no_failure_of_the_store() -> None:
    error = local._start_error("antiphon serve: prices.toml: invalid", 2)

    assert not isinstance(error, ServerFailed)
    assert str(error) == "prices.toml: invalid"
