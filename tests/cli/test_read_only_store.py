"""A store that may be read and not written is listed and exported; what would write it says what to do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OTHER_USER = 65534
COMMANDS = (
    ("threads", "list"),
    ("threads", "show", "last"),
    ("threads", "search", "Hello"),
    ("threads", "export", "last", "--format", "json"),
    ("usage",),
    ("db", "check"),
    ("db", "export", "-"),
)
WRITING = (
    ("chat", "-m", "scripted:chat", "--no-server", "Hello"),
    ("chat", "-m", "scripted:chat", "Hello"),
    ("threads", "archive", "last"),
    ("db", "vacuum"),
)


def antiphon(*words: str, without_rights: bool = False) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "antiphon", *words]
    if without_rights and os.geteuid() == 0:
        # The superuser without capabilities has the rights of any other user on the files of another one.
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with one conversation in a folder that cannot be written."""
    folder = tmp_path / "shared"
    folder.mkdir()
    path = folder / "store.db"
    monkeypatch.setenv("ANTIPHON_STORE", str(path))
    assert antiphon("chat", "-m", "scripted:chat", "--no-server", "Hello there").returncode == 0
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("the superuser may write everything; setpriv (util-linux) takes that right from a process")
        for place in (folder, *folder.iterdir()):
            os.chown(place, OTHER_USER, OTHER_USER)
    return path


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_it_is_read(store: Path, words: tuple[str, ...]) -> None:
    names = sorted(store.parent.iterdir())

    result = antiphon(*words, without_rights=True)

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout
    assert sorted(store.parent.iterdir()) == names


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_what_would_write_it_says_what_to_do(store: Path, words: tuple[str, ...]) -> None:
    result = antiphon(*words, without_rights=True)

    assert result.returncode in (1, 2)
    assert "Permission denied" in result.stderr
    assert "copy the store to a folder of yours, or name another with --store" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_store_that_may_not_be_read_is_an_error(store: Path) -> None:
    store.chmod(0o000)

    result = antiphon("threads", "list", without_rights=True)

    assert result.returncode == 1
    assert "check the permissions" in result.stderr
