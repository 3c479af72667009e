"""Threads of every kind are listed and found by an index that is the same as one rebuilt from their journals."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antiphon.app import KINDS, PROJECTION, App, compose, open_library, reindex
from antiphon.chat.service import Chats
from antiphon.providers.base import TextDelta
from antiphon.providers.prices import Prices
from antiphon.providers.registry import Models
from antiphon.runtime.records import Commit, Entry
from antiphon.runtime.runtime import Runtime
from antiphon.runtime.tree import MIGRATED
from antiphon.stores import maintenance
from antiphon.stores.archive import export, restore
from antiphon.stores.compaction import Policy, compact
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_facts import read_index
from antiphon.testing.contracts.store_steps import NOTHING_OPEN
from antiphon.threads import Library, Refused
from antiphon.threads.toolbox import tools_to_json
from antiphon.tools.toolbox import workspace_tools
from antiphon.tools.toolboxes import Bundle
from antiphon.tools.workspace import Workspace
from tests.fixtures.chats import Clerk, Teller
from tests.fixtures.debates import PRICES
from tests.stores import kept, scenes
from tests.stores.open_store import use

WORDS = ("shade", "the", "greet", "cars", "frost")


async def play_scenes(app: App, clerk: Clerk, tools: Any) -> None:
    """Bring threads of every kind to their ends, and one no further than its beginning."""
    for scene in ("pending", "archived"):
        await scenes.chat(app, clerk, scene)
    await scenes.run(app, tools, "completed")
    await scenes.debate(app, "completed")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with threads of every kind."""
    path = tmp_path_factory.mktemp("played") / "store.db"

    async def run() -> None:
        (path.parent / "workspace").mkdir()
        with Workspace(path.parent / "workspace") as workspace:
            box = workspace_tools(workspace)
            models = Models(openers={"scripted": kept.open_without_pauses})
            clerk = Clerk()
            async with App(path, models=models, toolbox=Bundle(box, clerk), prices=Prices(PRICES)) as app:
                await play_scenes(app, clerk, tools_to_json(box.tools))

    asyncio.run(run())
    return path


@pytest.fixture
def path(played: Path, tmp_path: Path) -> Path:
    """Return a copy of that store."""
    copy = tmp_path / "store.db"
    copy.write_bytes(played.read_bytes())
    return copy


def index_of(path: Path) -> list[Any]:
    return use(SqliteStore(path, read_only=True), lambda store: read_index(store, *WORDS))  # type: ignore[no-any-return]


def views_of(path: Path) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        async with open_library(path) as library:
            return {view.kind: view for view in await library.latest(archived=None)}

    return asyncio.run(run())


def search(path: Path, words: str) -> list[tuple[str, str]]:
    async def run() -> list[tuple[str, str]]:
        async with open_library(path) as library:
            return [(match.view.kind, match.line) for match in await library.search(words)]

    return asyncio.run(run())


def test_the_index_is_the_same_when_it_is_rebuilt_from_the_journals(path: Path) -> None:
    before = index_of(path)
    assert asyncio.run(reindex(path, everything=True)) == 4
    assert index_of(path) == before
    assert [len(found) for found in before[2]] == [1, 3, 1, 1, 1]


def test_a_listed_thread_has_the_facts_that_reading_it_gives(path: Path) -> None:
    async def run() -> list[tuple[Any, Any]]:
        async with open_library(path) as library:
            views = await library.latest(archived=None)
            return [(view, (await library.read(view.id)).view) for view in views]

    pairs = asyncio.run(run())
    assert len(pairs) == 4
    assert [listed for listed, _ in pairs] == [read for _, read in pairs]


def test_words_of_runs_and_debates_are_found_after_they_have_ended(path: Path) -> None:
    assert [kind for kind, _ in search(path, "greet.py")] == ["run"]
    assert [kind for kind, _ in search(path, "cars")] == ["debate"]


def test_a_renamed_thread_is_found_by_its_new_title_only(path: Path) -> None:
    assert ("chat", "Shade and sun") in search(path, "sun shade")

    async def rename() -> None:
        async with App(path) as app:
            await app.threads.rename(views_by_kind["run"].id, "Greetings to all")
            await app.threads.rename(views_by_kind["run"].id, "Salutations")

    views_by_kind = views_of(path)
    asyncio.run(rename())
    assert search(path, "greetings") == []
    assert search(path, "saluta") == [("run", "Salutations")]
    assert (views_of(path)["run"].title, views_of(path)["run"].turns) == ("Salutations", views_by_kind["run"].turns)


def test_a_deleted_thread_is_neither_listed_nor_found(path: Path) -> None:
    for view in views_of(path).values():
        maintenance.remove(path, view.id)
    rest = views_of(path)
    assert [len(rest), search(path, "greet")] == [1, []]  # of the two chats, one was deleted


def test_imported_threads_are_indexed_when_the_store_is_opened(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    restore(copy, export(path, lambda done, total: None), lambda done, total: None)
    assert index_of(copy)[0] == []
    assert {view.id for view in views_of(copy).values()} == {view.id for view in views_of(path).values()}
    assert index_of(copy) == index_of(path)


def test_a_compacted_thread_is_listed_and_found_as_before_and_when_it_is_indexed_again(tmp_path: Path) -> None:
    path = tmp_path / "long.db"
    teller = Teller(*([TextDelta("Tea, of course.")] for _ in range(10)))

    async def talk() -> None:
        machine = compose(teller.models.open)
        async with Runtime(SqliteStore(path), [machine], projection=PROJECTION, snapshot_every=10) as runtime:
            chats = Chats(runtime, Library(runtime, KINDS))
            id = await chats.create(model="scripted:teller")
            for number in range(10):
                receipt = await chats.say(id, f"Message {number} about word{number}")
                await chats.until_idle(id, receipt.cursor)

    asyncio.run(talk())
    before = index_of(path)
    assert list(compact(path, Policy(5, 2**62), pytest.fail))
    assert index_of(path) == before
    view = views_of(path)["chat"]
    asyncio.run(reindex(path, everything=True))
    assert views_of(path)["chat"] == replace(view, updated=views_of(path)["chat"].updated)
    assert search(path, "word0") == [("chat", "Message 0 about word0")]


def test_threads_that_ended_before_a_migration_are_indexed_again_by_their_results(path: Path) -> None:
    """A journal is replayed from the last migration on only."""
    before = views_of(path)
    found = [search(path, words) for words in ("greet", "cars", "shade")]

    async def migrate() -> None:
        async with App(path) as app:
            for view in before.values():
                snapshot = await app.runtime.snapshot(view.id)
                saved = await app.runtime.store.load(view.id)
                assert saved is not None
                at = view.updated
                event = {"type": MIGRATED, "from": 1, "to": 1, "snapshot": snapshot, "open": NOTHING_OPEN}
                entry = Entry(view.id, saved.seq + 1, at, "", event, value=snapshot["value"])
                commit = Commit(view.id, saved.seq, at, "active", migrated=saved.origin, entries=(entry,))
                await app.runtime.store.commit([commit._replace(snapshot=snapshot, open=NOTHING_OPEN)])

    asyncio.run(migrate())
    asyncio.run(reindex(path, everything=True))
    assert views_of(path) == before
    assert [[kind for kind, _ in search(path, words)] for words in ("greet", "cars", "shade")] == [
        [kind for kind, _ in matches] for matches in found
    ]


@pytest.mark.parametrize("name", [name for name in kept.kept_names() if name != kept.present_name()])
def test_a_store_of_an_earlier_schema_is_indexed_when_it_is_opened(tmp_path: Path, name: str) -> None:
    path = kept.migrate(kept.unpack(name, tmp_path / "store.db"))
    assert index_of(path)[0] == []
    listed = views_of(path)
    assert set(listed) == {"chat", "run", "debate"}
    assert search(path, "ten minutes evening") == [("chat", search(path, "ten minutes evening")[0][1])]


def test_a_message_is_one_text_however_many_chunks_it_came_in() -> None:
    store = MemoryStore()
    teller = Teller([TextDelta(f"word{n} ") for n in range(50)])

    async def run() -> list[str]:
        async with App(store, models=teller.models) as app:
            id = await app.chats.create(model="scripted:teller", title="Words")
            receipt = await app.chats.say(id, "Say fifty words.")
            await app.chats.until_idle(id, receipt.cursor)
            return sorted(text for _, text in store.trees[id].indexed.texts.values())

    assert asyncio.run(run()) == ["Say fifty words.", "Words", "".join(f"word{n} " for n in range(50))]


operations = st.lists(
    st.sampled_from(["say", "rename", "untitle", "archive", "unarchive", "checkpoint", "fork", "confirm_fork", "stop"]),
    max_size=8,
)


async def perform(app: App, id: str, operation: str, number: int) -> None:
    match operation:
        case "say":
            receipt = await app.chats.say(id, f"Message {number} about tea")
            await app.chats.until_idle(id, receipt.cursor)
        case "rename" | "untitle":
            await app.threads.rename(id, f"Title {number}" if operation == "rename" else None)
        case "archive" | "unarchive":
            await app.threads.archive(id, operation == "archive")
        case "stop":
            await app.threads.stop(id)
        case "fork":
            await app.chats.perform(id, "fork", name=f"branch{number}")
        case _:
            await app.chats.perform(id, operation)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(operations)
def test_after_any_operations_the_index_is_that_of_the_journals(chosen: list[str]) -> None:
    store = MemoryStore()

    async def run() -> tuple[Any, Any]:
        teller = Teller(*([TextDelta("Tea, "), TextDelta("of course.")] for _ in range(20)))
        async with App(store, models=teller.models) as app:
            id = await app.chats.create(model="scripted:teller")
            for number, operation in enumerate(chosen):
                try:
                    await perform(app, id, operation, number)
                except Refused:
                    continue
            last = (await app.runtime.state(id)).seq
            await app.runtime.fork(id, last, new="fork")
            words = ("tea", "title", "message 1", "untitled")
            before = await read_index(store, *words)
            await app.runtime.index.run(everything=True)
            return before, await read_index(store, *words)

    before, after = asyncio.run(run())
    assert before == after


def test_the_texts_of_a_thread_can_be_found_while_it_is_being_answered() -> None:
    async def run() -> list[str]:
        store = MemoryStore()
        async with App(store, models=Teller([TextDelta("Yes.")]).models) as app:
            id = await app.chats.create(model="scripted:teller")
            await app.chats.say(id, "Is there an owl?")
            library: Library = app.library
            return [match.line for match in await library.search("owl")]

    assert asyncio.run(run()) == ["Is there an owl?"]


def test_a_reader_beside_no_owner_reads_the_state_that_the_next_owner_finds(path: Path) -> None:
    async def run() -> list[tuple[str, str]]:
        async with open_library(path) as library:
            reader: Any = library.source
            states = [(view, await reader.state(view.id)) for view in await library.latest(archived=None)]
            return [(view.kind, state.get("kind")) for view, state in states if state.value == view.status]

    kinds = asyncio.run(run())
    assert len(kinds) == 4
    assert all(listed == read for listed, read in kinds)
