"""Threads are listed and read without their machines: of another release, quarantined, damaged."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import KINDS, App, open_library
from antiphon.cli.main import main
from antiphon.runtime.errors import Quarantined, UnknownMachine
from antiphon.runtime.records import Commit, Origin
from antiphon.stores.sqlite import SqliteStore
from antiphon.threads import Library, Record
from tests.stores import kept

NAME = "schema-6-thread-1"
FACTS = kept.expected_facts(NAME)
Change = Callable[[Origin], Origin]


def newer(origin: Origin) -> Origin:
    return replace(origin, version=99)


def changed(origin: Origin) -> Origin:
    return replace(origin, hash="2:0123456789abcdef")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a store with threads of every kind."""
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    return kept.migrate(kept.unpack(NAME, tmp_path / "store.db"))


def alter(path: Path, id: str, change: Change | None, status: str = "active") -> None:
    """Store a thread as if another release had written it, or in another status."""

    async def run() -> None:
        store = SqliteStore(path)
        await store.open()
        saved = await store.load(id)
        last = await store.entries(id, saved.seq - 1 if saved else 0)
        assert saved is not None
        migrated = None if change is None else change(saved.origin)
        await store.commit([Commit(id, saved.seq, last[0].at, status, migrated=migrated)])
        await store.close()

    asyncio.run(run())


def id_of(kind: str, status: str) -> str:
    return next(id for id, facts in FACTS.items() if (facts["kind"], facts["status"]) == (kind, status))


CHAT = id_of("chat", "completed")
RUN = id_of("run", "completed")
DEBATE = id_of("debate", "completed")


def read(path: Path, id: str) -> Record:
    async def run() -> Record:
        async with open_library(path) as library:
            return await library.read(id)

    return asyncio.run(run())


def words_of(content: Mapping[str, Any]) -> str:
    return "\n".join(turn["text"] for turn in content["turns"])


def list_all(path: Path) -> dict[str, tuple[str, str]]:
    async def run() -> dict[str, tuple[str, str]]:
        async with open_library(path) as library:
            return {view.id: (view.kind, view.status) for view in await library.latest(archived=None)}

    return asyncio.run(run())


@pytest.mark.parametrize("change", [newer, changed])
@pytest.mark.parametrize("id", [CHAT, RUN, DEBATE])
def test_a_thread_of_another_release_is_listed_among_the_others(store: Path, id: str, change: Change) -> None:
    before = list_all(store)
    alter(store, id, change)
    assert list_all(store) == {**before, id: (FACTS[id]["kind"], "unsupported")}


def test_a_quarantined_thread_is_listed_and_read_in_full(store: Path) -> None:
    alter(store, CHAT, None, "quarantined")
    assert list_all(store)[CHAT] == ("chat", "quarantined")
    record = read(store, CHAT)
    assert len(record.content["messages"]) == 4
    assert record.view.problem == f"it could not take a letter; see: antiphon db dead --root {CHAT}"


def test_a_transcript_has_every_word_of_a_chat(store: Path) -> None:
    alter(store, CHAT, newer)
    record = read(store, CHAT)
    view = record.view
    assert (view.title, view.turns, view.archived, round(view.cost_usd, 6)) == (
        FACTS[CHAT]["title"],
        FACTS[CHAT]["turns"],
        True,
        FACTS[CHAT]["cost"],
    )
    thoughts = 1  # of the model, which a transcript leaves out
    texts = [turn["text"] for turn in record.content["turns"]]
    assert texts == [text for i, text in enumerate(FACTS[CHAT]["said"]) if i != thoughts]
    assert [turn["speaker"] for turn in record.content["turns"]] == ["You", "Model", "You", "Model"]


def test_a_transcript_has_every_word_of_a_debate(store: Path) -> None:
    alter(store, DEBATE, newer)
    turns = read(store, DEBATE).content["turns"]
    said = [response for round in FACTS[DEBATE]["rounds"] for response in round]
    assert sorted(turn["text"] for turn in turns[1:]) == sorted(said)
    assert {turn["speaker"] for turn in turns} == {"You", "for", "against"}


def test_a_transcript_has_the_task_and_the_words_of_the_agents_of_a_run(store: Path) -> None:
    alter(store, RUN, newer)
    record = read(store, RUN)
    assert record.content["turns"][0]["text"] == "Write greet.py"
    speakers = {turn["speaker"] for turn in record.content["turns"][1:]}
    assert speakers == set(FACTS[RUN]["agents"])


def test_steps_in_an_unknown_form_are_left_out_of_a_transcript(store: Path) -> None:
    alter(store, CHAT, newer)

    async def run() -> Record:
        async with open_library(store) as library:
            entries = await library.source.store.entries(CHAT, 0)
            strange = [entry._replace(event={"type": "TEXT_CHUNK"}) if entry.seq == 14 else entry for entry in entries]

            async def pages(root: str, after: int = 0, limit: int = 0) -> Any:
                return strange if after == 0 else []

            library.source.store.entries = pages  # type: ignore[method-assign]
            return await library.read(CHAT)

    assert "Hello! a script" in words_of(asyncio.run(run()).content)


def test_a_thread_whose_snapshot_is_its_last_step_is_read_in_the_form_of_its_kind(store: Path) -> None:
    async def snapshot() -> None:
        async with App(store) as app:
            stored = await app.runtime.snapshot(CHAT)
            saved = await app.runtime.store.load(CHAT)
            assert saved is not None
            commit = Commit(CHAT, saved.seq, 1, "active", migrated=newer(saved.origin), snapshot=stored)
            await app.runtime.store.commit([commit])

    asyncio.run(snapshot())
    record = read(store, CHAT)
    assert (record.is_transcript, record.view.status, len(record.content["messages"])) == (False, "unsupported", 4)


def test_words_of_a_thread_of_another_release_are_searched(store: Path) -> None:
    alter(store, CHAT, newer)

    async def run() -> list[str]:
        async with open_library(store) as library:
            return [match.view.id for match in await library.search("ten minutes every evening")]

    assert asyncio.run(run()) == [CHAT]


def test_a_process_that_owns_the_store_lists_all_and_raises_where_it_must_continue_one(store: Path) -> None:
    alter(store, CHAT, newer)
    alter(store, RUN, None, "quarantined")

    async def run() -> dict[str, str]:
        async with App(store) as app:
            with pytest.raises(UnknownMachine):
                await app.chats.say(CHAT, "And now?")
            with pytest.raises(UnknownMachine):
                await app.chats.read(CHAT)
            with pytest.raises(Quarantined):
                await app.runs.read(RUN)
            return {view.id: view.status for view in await app.library.latest(archived=None)}

    statuses = asyncio.run(run())
    assert (statuses[CHAT], statuses[RUN], len(statuses)) == ("unsupported", "quarantined", len(FACTS))


def test_a_thread_that_cannot_be_replayed_is_read_with_the_problem(store: Path) -> None:
    class Failing:
        def __init__(self, library: Library) -> None:
            self.store = library.source.store
            self.can_run = library.source.can_run

        async def snapshot(self, root: str) -> Any:
            raise KeyError("topic")

    async def run() -> Record:
        async with open_library(store) as library:
            return await Library(Failing(library), KINDS).read(CHAT)

    assert asyncio.run(run()).view.problem == "its journal could not be replayed: KeyError: 'topic'"


def test_a_damaged_thread_is_read_up_to_the_damage(store: Path) -> None:
    connection = sqlite3.connect(store)
    connection.execute("update entry set body = '{' where seq = 50")
    connection.commit()
    connection.close()
    listed = list_all(store)
    assert set(listed) == set(FACTS)
    assert listed[CHAT] == ("chat", "damaged")
    texts = [turn["text"] for turn in read(store, CHAT).content["turns"]]
    assert texts == [FACTS[CHAT]["said"][0], FACTS[CHAT]["said"][2], FACTS[CHAT]["said"][3]]


# The commands.


def call(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main([*words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("command", "id"), [("threads", CHAT), ("threads", RUN), ("runs", RUN), ("debates", DEBATE)])
def test_commands_list_show_and_export_a_thread_of_another_release(
    store: Path, capsys: pytest.CaptureFixture[str], command: str, id: str
) -> None:
    alter(store, id, newer)
    everything = ("--all",) if command == "threads" else ()
    (line,) = [line for line in call(capsys, command, "list", *everything).splitlines() if line.startswith(id)]
    assert "unsupported" in line
    assert line.endswith("continue it with the release that wrote it")
    listed = json.loads(call(capsys, command, "list", "--json", *everything))
    (view,) = [view for view in listed if view["id"] == id]
    assert (view["status"], view["problem"] is None) == ("unsupported", False)
    assert "Read from the journal" in call(capsys, command, "show", id)
    shown = json.loads(call(capsys, command, "show", "--json", id))
    assert (shown["status"], shown["turns"][0]["speaker"]) == ("unsupported", "You")
    for format in ("md", "html", "json"):
        assert shown["turns"][-1]["text"].split()[0] in call(capsys, command, "export", id, "--format", format)


def test_a_run_of_another_release_is_not_resumed(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    id = id_of("run", "waiting")
    alter(store, id, newer)
    assert main(["run", "--resume", id]) == 2
    assert f"cannot resume run {id}: its machine is not one of this release" in capsys.readouterr().err
