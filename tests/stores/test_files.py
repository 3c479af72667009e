"""Stores that an earlier version wrote are read as they were meant, and their threads go on."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App
from antiphon.chat import branch_path
from antiphon.stores.checks import check
from tests.stores.kept import migrate, read_all_facts, run_on_store
from tests.stores.scenes import SCENES, has_status, until

FOLDER = Path(__file__).parent / "files"
NAMES = [f"{kind}-{scene}" for kind, scenes in SCENES.items() for scene in scenes]
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))


@pytest.fixture
def unpack_file(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that unpacks a copy of a stored file."""

    def unpack(name: str) -> Path:
        path = tmp_path / "store.db"
        path.write_bytes(gzip.decompress((FOLDER / f"{name}.db.gz").read_bytes()))
        return migrate(path)

    return unpack


def run_on_thread(path: Path, main: Callable[[App, str], Awaitable[Any]]) -> Any:
    """Open a store with the present code, and run a coroutine on its thread."""

    async def run(app: App) -> Any:
        (view,) = await app.library.latest(archived=None)
        return await main(app, view.id)

    return run_on_store(path, run)


async def read_facts(path: Path) -> dict[str, Any]:
    """Read the facts about the only thread of a store."""
    (facts,) = (await read_all_facts(path)).values()
    return facts


@pytest.mark.parametrize("name", NAMES)
def test_a_file_says_what_it_said_when_it_was_written(unpack_file: Callable[[str], Path], name: str) -> None:
    assert asyncio.run(read_facts(unpack_file(name))) == EXPECTED[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_whole(unpack_file: Callable[[str], Path], name: str) -> None:
    assert check(unpack_file(name), lambda done, total: None) == []


@pytest.mark.parametrize("name", ["chat-pending", "chat-completed", "chat-archived"])
def test_a_chat_takes_a_message(unpack_file: Callable[[str], Path], name: str) -> None:
    async def main(app: App, id: str) -> str:
        receipt = await app.chats.say(id, "And now?")
        await until(app.chats.follow(id, receipt.seq), has_status("completed"))
        return str(branch_path((await app.library.read(id)).content)[-1]["role"])

    assert run_on_thread(unpack_file(name), main) == "assistant"


@pytest.mark.parametrize("name", ["chat-running", "chat-interrupted"])
def test_a_reply_that_was_lost_is_resumed(unpack_file: Callable[[str], Path], name: str) -> None:
    async def main(app: App, id: str) -> None:
        await until(app.chats.follow(id), has_status("interrupted"))
        receipt = await app.chats.resume(id)
        await until(app.chats.follow(id, receipt.seq), has_status("completed"))

    run_on_thread(unpack_file(name), main)


def test_a_permission_that_was_asked_for_expires(unpack_file: Callable[[str], Path]) -> None:
    async def main(app: App, id: str) -> Any:
        await until(app.chats.follow(id), lambda activity: activity.kind == "reply_failed")
        return (await app.runtime.snapshot(id))["context"]["permissionExpired"]

    assert run_on_thread(unpack_file("chat-waiting"), main) is True


@pytest.mark.parametrize("name", ["run-running", "run-interrupted", "run-waiting"])
def test_a_run_goes_on_where_it_was(unpack_file: Callable[[str], Path], name: str) -> None:
    async def main(app: App, id: str) -> Any:
        if name == "run-waiting":
            await until(app.runs.follow(id), lambda activity: activity.kind == "interrupted")
        else:
            await until(app.runs.follow(id), has_status("interrupted"))
        receipt = await app.runs.resume(id)
        happened = has_status("completed", "waiting")
        await until(app.runs.follow(id, receipt.seq), happened)
        while await app.runs.status(id) == "waiting":
            receipt = await app.runs.answer(id, decision="allow")
            await until(app.runs.follow(id, receipt.seq), happened)
        return (await app.runs.read(id))["outcome"]["success"]

    assert run_on_thread(unpack_file(name), main) is True


def test_a_run_that_was_made_takes_its_task(unpack_file: Callable[[str], Path]) -> None:
    async def main(app: App, id: str) -> Any:
        await app.runs.start(id, "Write greet.py")
        await until(app.runs.follow(id), has_status("completed"))
        return (await app.runs.read(id))["outcome"]["success"]

    assert run_on_thread(unpack_file("run-pending"), main) is True


@pytest.mark.parametrize("name", ["debate-pending", "debate-running", "debate-paused", "debate-interrupted"])
def test_a_debate_goes_on_to_its_verdict(unpack_file: Callable[[str], Path], name: str) -> None:
    async def main(app: App, id: str) -> Any:
        debates = app.debates
        if name == "debate-pending":
            receipt = await debates.start(id)
        else:
            if name != "debate-paused":
                await until(debates.follow(id), has_status("interrupted"))
            receipt = await debates.resume(id)
        await until(debates.follow(id, receipt.seq), has_status("completed"))
        return (await debates.read(id))["verdict"]["winner"]

    assert run_on_thread(unpack_file(name), main) == EXPECTED["debate-completed"]["winner"]


def test_a_debate_without_money_goes_on_once_there_is_some(unpack_file: Callable[[str], Path]) -> None:
    async def main(app: App, id: str) -> Any:
        receipt = await app.debates.raise_limit(id, 100)
        await until(app.debates.follow(id, receipt.seq), has_status("completed"))
        return (await app.debates.read(id))["outcome"]

    assert run_on_thread(unpack_file("debate-unpaid"), main) == "verdict"
