"""Windows and servers of two versions on one store: a copy of the package with another version number."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import antiphon
from antiphon.client.local import ServerInfo, read_server
from antiphon.client.starting import socket_path
from antiphon.version import VERSION
from tests.fixtures.local_server import windows_on
from tests.fixtures.scripted_team import script

OTHER = "9.9.9"


@pytest.fixture(scope="module")
def other_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package that has another version."""
    folder = tmp_path_factory.mktemp("other")
    shutil.copytree(Path(antiphon.__file__).parent, folder / "antiphon")
    version = folder / "antiphon" / "version.py"
    version.write_text(version.read_text("utf-8").replace(VERSION, OTHER), "utf-8")
    return folder


@pytest.fixture
def store(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with windows_on(short_folder, monkeypatch) as path:
        yield path


def command(*arguments: str, package: Path | None = None) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **({} if package is None else {"PYTHONPATH": str(package)})}
    words = [sys.executable, "-m", "antiphon", *arguments]
    return subprocess.run(
        words, env=environ, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=60
    )


def server_of(store: Path) -> ServerInfo | None:
    return asyncio.run(read_server(socket_path(store)))


def question(store: Path, model: str) -> list[str]:
    return ["chat", "-m", model, "--store", str(store), "Hello"]


def test_an_idle_server_of_another_version_hands_over(store: Path, short_folder: Path, other_package: Path) -> None:
    asked = question(store, script(short_folder, {"steps": [{"text": "Here."}]}))
    first = command(*asked, package=other_package)
    before = server_of(store)
    second = command(*asked)
    after = server_of(store)

    assert (first.stdout, second.stdout) == ("Here.\n", "Here.\n")
    assert before is not None
    assert after is not None
    assert (before.version, after.version) == (OTHER, VERSION)


@pytest.mark.parametrize("words", [["chat", "-m", "scripted:demo", "Hello"], ["threads", "archive", "last"]])
def test_a_busy_server_of_another_version_is_named_with_the_command_to_use(
    store: Path, short_folder: Path, other_package: Path, words: list[str]
) -> None:
    endless = script(short_folder, {"steps": [{"text": "Waiting. "}, {"delay_ms": 600_000}]})
    environ = {**os.environ, "PYTHONPATH": str(other_package)}
    busy = [sys.executable, "-m", "antiphon", *question(store, endless)]
    with subprocess.Popen(busy, env=environ, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as window:
        assert window.stdout is not None
        assert window.stdout.read(8) == b"Waiting."
        refused = command(*words, "--store", str(store))
        server = server_of(store)
        window.kill()

    assert server is not None
    assert server.version == OTHER
    assert refused.returncode == 2
    assert f"is served by Antiphon {OTHER} (process {server.pid}), and this is {VERSION}" in refused.stderr
    assert f"end its server with: kill {server.pid}" in refused.stderr
