"""Windows: several commands on one store at once, a server elsewhere, and everything in one process."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.app import App, open_library
from antiphon.client.local import find_server
from antiphon.threads import ThreadView
from tests.fixtures.command import antiphon
from tests.fixtures.local_server import windows_on
from tests.fixtures.server import CANARY, live_server

DEMO = ("chat", "-m", "scripted:demo")
SCRIPT = """
[[replies]]
steps = [ {{ delay_ms = {delay_ms} }}, {{ text = "A slow answer." }}, {{ usage = {{ input = 1, output = 1 }} }} ]
"""


@pytest.fixture
def store(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with windows_on(short_folder, monkeypatch) as path:
        yield path


@pytest.fixture
def slow(short_folder: Path) -> str:
    """A model that takes a second to answer."""
    return script(short_folder / "slow.toml", 1_000)


@pytest.fixture
def endless(short_folder: Path) -> str:
    """A model that does not answer as long as a test runs."""
    return script(short_folder / "endless.toml", 600_000)


def script(path: Path, delay_ms: int) -> str:
    path.write_text(SCRIPT.format(delay_ms=delay_ms), "utf-8")
    return f"scripted:{path}"


def start(store: Path, model: str, question: str = "Hello") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "antiphon", "chat", "-m", model, "--json", "--store", str(store), question]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )


def threads_of(store: Path) -> list[ThreadView]:
    async def read() -> list[ThreadView]:
        async with open_library(store) as library:
            return await library.latest()

    return asyncio.run(read())


def test_three_questions_at_once_are_answered(store: Path) -> None:
    windows = [start(store, "scripted:demo") for _ in range(3)]

    ends = [json.loads(window.communicate(timeout=60)[0].splitlines()[-1]) for window in windows]

    assert [end["status"] for end in ends] == ["completed"] * 3
    assert [window.returncode for window in windows] == [0, 0, 0]
    assert sorted(view.id for view in threads_of(store)) == sorted(end["thread"] for end in ends)


def test_killing_one_window_disturbs_no_reply(store: Path, slow: str) -> None:
    antiphon(*DEMO, "--store", store, "Hello", stdin=None)  # the server runs
    killed = start(store, slow)
    other = start(store, slow)
    assert killed.stdout is not None
    assert killed.stdout.readline()  # its chat is running

    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    end = json.loads(other.communicate(timeout=60)[0].splitlines()[-1])

    assert (end["status"], end["text"]) == ("completed", "A slow answer.")
    again = antiphon("threads", "list", "--json", "--store", store)
    assert {row["status"] for row in json.loads(again.stdout)} <= {"completed", "running"}


def test_a_question_starts_its_server_before_slow_modules_are_loaded() -> None:
    script = "import sys, antiphon.cli.main, antiphon.cli.chat.command\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert {"asyncio", "sqlite3", "httpx2", "antiphon.chart", "antiphon.app"}.isdisjoint(done.stdout.split())
    assert "antiphon.client.starting" in done.stdout.split()


def test_a_question_has_the_same_output_as_in_one_process(store: Path) -> None:
    here = antiphon(*DEMO, "--no-server", "--store", store, "Hello")
    there = antiphon(*DEMO, "--store", store, "Hello")

    assert asyncio.run(find_server(store)) is not None
    assert (there.returncode, there.stdout) == (here.returncode, here.stdout)


def test_a_conversation_is_continued_by_the_server_that_owns_it(store: Path) -> None:
    antiphon(*DEMO, "--store", store, "Hello")

    result = antiphon("chat", "-c", "--store", store, "And now?")

    assert result.returncode == 0, result.stderr
    assert threads_of(store)[0].turns == 2


def test_threads_are_archived_and_deleted_by_the_server_that_owns_them(store: Path) -> None:
    antiphon(*DEMO, "--store", store, "Hello")

    archived = antiphon("threads", "archive", "last", "--store", store)
    deleted = antiphon("threads", "delete", archived.stdout.split()[-1], "--yes", "--store", store)

    assert (archived.returncode, deleted.returncode) == (0, 0), archived.stderr + deleted.stderr
    assert threads_of(store) == []


def exported(store: Path) -> Path:
    """The file of an exported chat, whose server still runs."""
    antiphon(*DEMO, "--store", store, "Hello")
    path = store.with_name("chat.json")
    antiphon("threads", "export", "last", "--to", path, "--store", store)
    return path


def test_a_command_that_needs_the_store_gets_it_from_an_idle_server(store: Path) -> None:
    imported = antiphon("threads", "import", exported(store), "--store", store)

    assert imported.returncode == 0, imported.stderr
    assert asyncio.run(find_server(store)) is None


def test_a_command_that_needs_the_store_names_a_server_in_use(store: Path, endless: str) -> None:
    path = exported(store)
    window = start(store, endless)
    assert window.stdout is not None
    assert window.stdout.readline()  # its chat is running

    imported = antiphon("threads", "import", path, "--store", store)
    window.kill()
    window.communicate()

    assert imported.returncode == 2
    assert "is used by a server (process " in imported.stderr
    assert "end it with: kill " in imported.stderr


@pytest.mark.parametrize("words", [[], ["--no-server"]])
def test_a_store_that_cannot_be_used_is_a_failure_with_or_without_a_server(store: Path, words: list[str]) -> None:
    store.write_bytes(b"not a database" * 1000)

    result = antiphon(*DEMO, "--store", store, *words, "Hello", stdin=None)

    assert result.returncode == 1
    assert result.stderr.count("antiphon") == 1
    assert result.stderr.startswith(f"antiphon chat: {store}: ")


def test_without_a_server_nothing_is_started(store: Path) -> None:
    result = antiphon(*DEMO, "--no-server", "--store", store, "Hello")

    assert result.returncode == 0
    assert asyncio.run(find_server(store)) is None


@pytest.mark.parametrize(
    "words",
    [(*DEMO, "Hello"), ("run", "-m", "scripted:agents", "Go"), ("debate", "-m", "scripted:debate", "Is tea a drink?")],
    ids=["chat", "run", "debate"],
)
def test_a_second_process_says_which_package_is_missing(store: Path, words: tuple[str, ...]) -> None:
    async def ask() -> subprocess.CompletedProcess[str]:
        async with App(store):
            script = "import sys; sys.modules['fastapi'] = None\nfrom antiphon.cli.main import main\nsys.exit(main())"
            command = [sys.executable, "-c", script, *words, "--store", str(store)]
            return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=60)

    result = asyncio.run(ask())
    assert result.returncode == 1
    assert "pip install 'antiphon[server]'" in result.stderr


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_TOKEN", CANARY)


@pytest.mark.usefixtures("token")
def test_a_server_elsewhere_answers_and_lists(tmp_path: Path) -> None:
    with live_server() as server:
        asked = antiphon(*DEMO, "--server", server.address, "Hello", cwd=tmp_path)
        listed = antiphon("threads", "list", "--json", "--server", server.address)
        shown = antiphon("threads", "show", "last", "--server", server.address)

    assert asked.returncode == 0, asked.stderr
    assert [row["status"] for row in json.loads(listed.stdout)] == ["completed"]
    assert "Hello" in shown.stdout
    assert CANARY not in asked.stderr + listed.stderr + shown.stderr


def test_a_token_comes_from_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(f"{CANARY}\n", "utf-8")
    path.chmod(0o644)

    with live_server() as server:
        listing = ("threads", "list", "--server", server.address, "--token-file", path)
        refused = antiphon(*listing)
        path.chmod(0o600)
        listed = antiphon(*listing)

    assert (refused.returncode, listed.returncode) == (2, 0), listed.stderr
    assert f"chmod 600 {path}" in refused.stderr
    assert CANARY not in refused.stderr


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/?token={}", "http://user:{}@127.0.0.1:9"])
def test_a_token_in_the_address_is_refused_and_not_printed(address: str) -> None:
    result = antiphon("threads", "list", "--server", address.format(CANARY))

    assert result.returncode == 2
    assert "put the token into ANTIPHON_TOKEN or --token-file" in result.stderr
    assert CANARY not in result.stderr


def test_a_server_that_is_not_there_is_said() -> None:
    result = antiphon("threads", "list", "--server", "http://127.0.0.1:9")

    assert result.returncode == 1
    assert "no answer from http://127.0.0.1:9" in result.stderr
    assert os.linesep.join(result.stderr.splitlines()[1:]) == ""


def test_a_wrong_token_is_refused_with_where_to_put_the_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_TOKEN", "wrong")
    with live_server() as server:
        result = antiphon("threads", "list", "--server", server.address)

    assert result.returncode == 1
    assert "set ANTIPHON_TOKEN" in result.stderr
    assert "--token-file" in result.stderr
    assert "open the address" not in result.stderr
