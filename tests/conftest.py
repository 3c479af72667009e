"""Settings of all tests: the number of processes, property tests without a deadline, and no files of the user."""

import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A property does not depend on the speed of the machine.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_xdist_auto_num_workers() -> int:
    """Return more processes than cores, because most tests wait for a process or a terminal."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture(scope="session", autouse=True)
def _undo_folder(tmp_path_factory):
    """Keep the copies of undo out of the user's folders."""
    os.environ["ANTIPHON_UNDO"] = str(tmp_path_factory.mktemp("undo"))


@pytest.fixture(scope="session", autouse=True)
def _no_config(tmp_path_factory):
    """Keep the user's settings, templates and prices out of the tests."""
    folder = tmp_path_factory.mktemp("config")
    os.environ["ANTIPHON_CONFIG"] = str(folder / "config.toml")
    os.environ["ANTIPHON_TEMPLATES"] = str(folder / "templates")
    os.environ["ANTIPHON_PRICES"] = str(folder / "prices.toml")


@pytest.fixture(scope="session", autouse=True)
def _no_server() -> Iterator[None]:
    """Keep commands in one process; fail if a server that a test has started for its windows survives."""
    mark = f"ANTIPHON_TEST_SESSION={secrets.token_hex(8)}"
    os.environ["ANTIPHON_SERVER"] = "off"
    os.environ.update([mark.split("=")])
    yield
    assert surviving_servers(mark) == []


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder with a path that is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="ap-") as folder:
        yield Path(folder)


def surviving_servers(mark: str) -> list[int]:
    """Local servers among the processes that have a mark in their environment, where the system lists them."""
    servers = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = mark.encode() in (process / "environ").read_bytes().split(b"\0")
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if is_ours and b"serve" in words and b"--local" in words:
            servers.append(int(process.name))
    return servers
