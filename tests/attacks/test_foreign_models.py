"""Attacks by threads from files on where texts go: a file names an address or a file of this machine as its model."""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon import App
from antiphon.chat.archive import from_archive, to_archive
from antiphon.cli.main import main
from antiphon.providers.base import TextDelta
from antiphon.providers.registry import Models
from antiphon.stores import archive, maintenance
from tests.attacks.attack import Attack
from tests.fixtures.chats import Teller
from tests.fixtures.debate_scripts import TOPIC

ADDRESS = "openai+http://127.0.0.1:9/v1:spy"
FILE = "local:/tmp/spy.gguf"
ATTACKS = [
    Attack("a chat in an export of a store", "store"),
    Attack("a chat in a backup", "backup"),
    Attack("a chat in a JSON file", "json"),
    Attack("a fork of an imported chat", "fork"),
    Attack("a reply that is requested again", "retry"),
    Attack("a merge by consensus", "merge"),
    Attack("a model that is a file", "file"),
    Attack("a debate in an export of a store", "debate"),
]
WAYS = {attack.payload: attack.name for attack in ATTACKS}


def quiet(done: int, total: int) -> None:
    """Show no progress."""


class Spy(Teller):
    """A model at an address, which remembers what it is told."""

    def __init__(self) -> None:
        super().__init__(*[[TextDelta("Go on.")]] * 9)

    @property
    def models(self) -> Models:
        """Models, of which those by address or file are this one."""
        return Models(openers=dict.fromkeys(("openai", "local", "scripted"), lambda reference: self))


def in_app(store: Path, spy: Spy, work: Callable[[App], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with App(store, models=spy.models) as app, asyncio.timeout(30):
            return await work(app)

    return asyncio.run(run())


async def say(app: App, chat: str, text: str = "My password is pwned.") -> None:
    receipt = await app.chats.say(chat, text)
    [activity async for activity in app.chats.until_idle(chat, receipt.seq - 1)]


async def retry(app: App, chat: str) -> None:
    receipt = await app.chats.retry(chat)
    [activity async for activity in app.chats.until_idle(chat, receipt.seq - 1)]


async def merge(app: App, chat: str) -> None:
    await app.chats.perform(chat, "merge", source="side", strategy="consensus")
    [activity async for activity in app.chats.until_idle(chat)]


async def attacker(app: App, model: str = ADDRESS) -> str:
    """A chat with two branches that differ."""
    chat = await app.chats.create(model=model)
    await say(app, chat, "Hello.")
    await app.chats.perform(chat, "fork", name="side")
    await app.chats.perform(chat, "confirm_fork")
    await say(app, chat, "On the side.")
    await app.chats.perform(chat, "switch", branch="main")
    await say(app, chat, "On main.")
    return chat


async def debate(app: App) -> str:
    return await app.debates.create({"topic": TOPIC, "models": [ADDRESS], "maxRounds": 1})


def imported(source: Path, target: Path) -> None:
    archive.restore(target, archive.export(source, quiet), quiet)


def restored(source: Path, target: Path) -> None:
    backup = target.with_suffix(".backup")
    maintenance.backup(source, backup, quiet)
    maintenance.restore(target, backup, quiet, replace=False)


def copy_chat(way: str, source: Path, target: Path, chat: str, *, trusted: bool) -> str:
    """Copy a chat into another store; return its id there. A trusted copy is the file itself."""
    if trusted:
        target.write_bytes(source.read_bytes())
        return chat
    if way != "json":
        (restored if way == "backup" else imported)(source, target)
        return chat

    async def export(app: App) -> str:
        return json.dumps(to_archive(await app.chats.read(chat)))

    text = in_app(source, Spy(), export)

    async def restore(app: App) -> str:
        return await app.chats.restore(**from_archive(text))

    return str(in_app(target, Spy(), restore))


async def continue_chat(app: App, chat: str, way: str) -> None:
    match way:
        case "fork":
            await say(app, await app.chats.fork(chat))
        case "retry":
            await retry(app, chat)
        case "merge":
            await merge(app, chat)
        case "debate":
            await app.debates.start(chat)
            await app.debates.until_idle(chat)
        case _:
            await say(app, chat)


@pytest.mark.parametrize("trusted", [True, False], ids=["the file itself", "a copy"])
@pytest.mark.parametrize("way", WAYS, ids=WAYS.values())
def test_a_thread_from_a_file_does_not_decide_where_texts_go(tmp_path: Path, way: str, trusted: bool) -> None:
    """The thread itself asks its model, an imported or restored copy does not."""
    source = tmp_path / "a.db"

    async def create(app: App) -> str:
        if way == "debate":
            return await debate(app)
        return await attacker(app, FILE if way == "file" else ADDRESS)

    chat = copy_chat(way, source, tmp_path / "b.db", in_app(source, Spy(), create), trusted=trusted)
    spy = Spy()

    in_app(tmp_path / "b.db", spy, lambda app: continue_chat(app, chat, way))

    assert bool(spy.asked) == trusted


@pytest.mark.parametrize("name", ["allow_model", "use_model"])
def test_a_model_that_a_person_names_is_asked(tmp_path: Path, name: str) -> None:
    chat = in_app(tmp_path / "a.db", Spy(), attacker)
    imported(tmp_path / "a.db", tmp_path / "b.db")
    spy = Spy()

    async def work(app: App) -> None:
        if name == "allow_model":
            await app.chats.allow_model(chat, ADDRESS)
        else:
            await app.chats.perform(chat, name, model=ADDRESS)
        await say(app, chat)

    in_app(tmp_path / "b.db", spy, work)

    assert len(spy.asked) == 1


def test_a_model_that_a_person_named_for_one_thread_is_not_asked_by_another(tmp_path: Path) -> None:
    chat = in_app(tmp_path / "a.db", Spy(), attacker)
    imported(tmp_path / "a.db", tmp_path / "b.db")
    spy = Spy()

    async def work(app: App) -> Any:
        fork = await app.chats.fork(chat)
        await app.chats.allow_model(chat, ADDRESS)
        await say(app, fork)
        return (await app.chats.read(fork)).view

    view = in_app(tmp_path / "b.db", spy, work)

    assert (view.status, spy.asked) == ("failed", [])


def test_the_terminal_says_how_an_imported_chat_is_continued(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "a.db"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    chat = in_app(tmp_path / "a.db", Spy(), attacker)
    main(["threads", "export", chat, "--to", str(tmp_path / "chat.json")])
    capsys.readouterr()
    main(["threads", "import", str(tmp_path / "chat.json")])
    copy, notes = capsys.readouterr()
    code = main(["chat", "--thread", copy.strip(), "--plain", "Hello"])

    assert "permissions are not imported" in notes
    assert f"antiphon chat --thread {copy.strip()} --model {ADDRESS}" in notes
    assert code == 2
    assert f"name it with --model {ADDRESS}" in capsys.readouterr().err
