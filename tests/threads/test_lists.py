"""Threads are listed a page at a time, filtered, and found by their words, on both stores alike."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import PROJECTION, App, open_library
from antiphon.providers.base import TextDelta
from antiphon.runtime.index.rows import IndexChange
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from antiphon.threads import InvalidCursor, Library
from tests.fixtures.chats import Teller
from tests.fixtures.debates import CONFIG

STORES = {"memory": lambda folder: MemoryStore(), "sqlite": lambda folder: SqliteStore(folder / "store.db")}
STATUSES = ("running", "interrupted", "completed")
every_store = pytest.mark.parametrize("kind", STORES)


def on_threads(kind: str, folder: Path, work: Callable[[App, list[str]], Awaitable[Any]]) -> Any:
    """Run a coroutine with seven chats and a debate; the fourth chat is archived, and the last one answered."""

    async def run() -> Any:
        store: Any = STORES[kind](folder)
        async with App(store, models=Teller([TextDelta("Oolong is tea.")]).models) as app:
            ids = [await app.chats.create(model="scripted:teller", title=f"Chat {number}") for number in range(7)]
            await app.threads.archive(ids[3])
            ids.append(await app.debates.create(CONFIG))
            receipt = await app.chats.say(ids[6], "Which tea?")
            await app.chats.until_idle(ids[6], receipt.cursor)
            return await work(app, ids)

    return asyncio.run(run())


async def pages(library: Library, limit: int, **filters: Any) -> list[list[str]]:
    found: list[list[str]] = []
    after: str | None = None
    while views := await library.latest(limit, after=after, **filters):
        found.append([view.id for view in views])
        after = views[-1].cursor
    return found


@every_store
def test_pages_have_every_thread_once_the_latest_first(tmp_path: Path, kind: str) -> None:
    async def work(app: App, ids: list[str]) -> None:
        paged = await pages(app.library, 3, archived=None)
        assert [len(page) for page in paged] == [3, 3, 2]
        assert sorted(id for page in paged for id in page) == sorted(ids)
        assert paged[0][0] == ids[6]

    on_threads(kind, tmp_path, work)


@every_store
def test_a_thread_that_changes_between_two_pages_hides_no_other(tmp_path: Path, kind: str) -> None:
    async def work(app: App, ids: list[str]) -> None:
        first = await app.library.latest(4)
        await app.threads.rename(first[-1].id, "Changed")
        rest = await app.library.latest(20, after=first[-1].cursor)
        assert {view.id for view in [*first, *rest]} == {*ids} - {ids[3]}

    on_threads(kind, tmp_path, work)


@every_store
def test_a_list_has_threads_of_a_kind_a_status_or_archived_ones(tmp_path: Path, kind: str) -> None:
    async def work(app: App, ids: list[str]) -> None:
        assert await pages(app.library, 9, kind="debate") == [[ids[7]]]
        assert await pages(app.library, 9, status="completed") == [[ids[6]]]
        assert await pages(app.library, 9, archived=True) == [[ids[3]]]
        assert await pages(app.library, 9, owner="ann") == []
        assert len((await pages(app.library, 9, owner="", status="pending"))[0]) == 6

    on_threads(kind, tmp_path, work)


@every_store
def test_a_reader_of_the_list_learns_which_threads_have_changed_since(tmp_path: Path, kind: str) -> None:
    async def work(app: App, ids: list[str]) -> None:
        newest = (await app.library.latest(1))[0]
        await app.threads.archive(ids[2])
        changed = await app.library.latest(20, archived=None, since=newest.cursor)
        assert {view.id for view in changed} >= {ids[2]}
        assert len(changed) < len(ids) or changed[0].updated == changed[-1].updated

    on_threads(kind, tmp_path, work)


@every_store
def test_a_search_finds_titles_questions_and_replies(tmp_path: Path, kind: str) -> None:
    async def work(app: App, ids: list[str]) -> None:
        assert [match.view.id for match in await app.library.search("chat 3")] == [ids[3]]
        (match,) = await app.library.search("OOLONG")
        assert (match.view.id, match.line) == (ids[6], "Oolong is tea.")
        first = await app.library.search("chat", 4)
        rest = await app.library.search("chat", 20, after=first[-1].cursor)
        assert sorted(match.view.id for match in [*first, *rest]) == sorted(ids[:7])

    on_threads(kind, tmp_path, work)


@every_store
def test_ids_are_found_by_a_prefix_and_an_exact_one_wins(tmp_path: Path, kind: str) -> None:
    async def work(app: App, ids: list[str]) -> None:
        assert await app.library.find(ids[0]) == [ids[0]]
        assert sorted(await app.library.find("")) == sorted(ids)
        assert await app.library.find("", "debate") == [ids[7]]
        assert await app.library.find("nothing") == []

    on_threads(kind, tmp_path, work)


def test_a_text_that_is_no_cursor_is_refused() -> None:
    async def run() -> None:
        async with App(MemoryStore()) as app:
            for text in ("", "7", "x:7", "-1:a", f"{2**63}:a"):
                with pytest.raises(InvalidCursor, match="is not a cursor of a list"):
                    await app.library.latest(after=text)
            for text in ("", "x", "9" * 19):
                with pytest.raises(InvalidCursor, match="is not a cursor of a search"):
                    await app.library.search("tea", after=text)

    asyncio.run(run())


def test_a_running_thread_of_a_store_without_an_owner_is_listed_as_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def run() -> tuple[list[str], list[str], list[str]]:
        app = App(path, models=Teller([]).models)
        await app.runtime.start()
        id = await app.chats.create(model="scripted:teller")
        tree = (await app.runtime.store.index.get([id]))[id]
        row = tree.row._replace(status="running")
        await app.runtime.store.index.replace(id, IndexChange(tree.updated, row), PROJECTION.version)
        await app.runtime.stop()
        async with open_library(path) as library:
            listed = [[view.status for view in await library.latest(status=status)] for status in STATUSES]
        return listed[0], listed[1], listed[2]

    assert asyncio.run(run()) == ([], ["interrupted"], [])
