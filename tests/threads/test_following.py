"""Following threads: cursors at which nothing is lost, threads that are idle, and many threads at once."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon import OtherHistory, Quarantined
from antiphon.app import App
from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Delta, TextDelta, ToolStart
from antiphon.providers.registry import Models
from antiphon.runtime import feed
from antiphon.runtime.errors import NotRunning
from antiphon.runtime.records import TreeState
from antiphon.runtime.store import Store
from antiphon.stores import compaction, maintenance
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from antiphon.threads.activity import Activity
from antiphon.threads.errors import UnknownThread
from antiphon.threads.following import ThreadChange, is_idle
from tests.fixtures.chats import Clerk, Teller, told
from tests.fixtures.debates import CONFIG, brief
from tests.fixtures.runtime import simulate

FILED = ([ToolStart("c1", "file")], [TextDelta("Filed, "), TextDelta("as asked.")])
HELLO: list[Delta] = [TextDelta("Good "), TextDelta("evening.")]
AUTO = {"mode": "auto"}
EVERY_AGE = 1 << 60
Making = Callable[[App], Awaitable[str]]


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    """Open a store: the same one, whenever it is called."""
    if request.param == "sqlite":
        return lambda: SqliteStore(tmp_path / "threads.db")
    memory = MemoryStore()
    return lambda: memory


def app_of(store: Store, *replies: list[Delta], box: Any = None) -> App:
    """An app whose model plays some replies."""
    return App(store, models=Teller(*replies).models, toolbox=box or Clerk())


async def new_chat(app: App, **settings: Any) -> str:
    options = {"options": {"tools": Clerk().listed}}
    return await app.chats.create(**{"model": "scripted:teller", "settings": options, "consent": AUTO, **settings})


async def chat(app: App) -> str:
    id = await new_chat(app)
    await app.chats.say(id, "File this")
    return id


async def debate(app: App) -> str:
    id = await app.debates.create({**CONFIG, "maxRounds": 1})
    await app.debates.start(id)
    return id


async def read(app: App, id: str, after: int | str = 0) -> list[Activity]:
    """All activities after a cursor that there are, by `until_idle`."""
    return [activity async for activity in app.threads.until_idle(id, after)]


async def follow(app: App, id: str, after: int | str, number: int) -> list[Activity]:
    """So many activities after a cursor, by `follow`."""
    heard: list[Activity] = []
    activities = app.threads.follow(id, after)
    while len(heard) < number:
        heard.append(await anext(activities))
    return heard


async def check_all_cuts(app: App, id: str, whole: list[Activity]) -> None:
    """The law: what was read before any cut, and what is read after its cursor, are the whole."""
    assert len({activity.cursor for activity in whole}) == len(whole)
    for number, last in enumerate(whole, 1):
        rest = whole[number:]
        assert await read(app, id, last.cursor) == rest, last.cursor
        assert await follow(app, id, last.cursor, len(rest)) == rest, last.cursor
        assert [step async for step in steps_of(app, id, last.cursor, len(rest))] == grouped(rest)


async def steps_of(app: App, id: str, after: str, number: int) -> AsyncIterator[list[Activity]]:
    steps = app.threads.steps(id, after)
    while number > 0:
        step = await anext(steps)
        number -= len(step)
        yield step


def grouped(activities: list[Activity]) -> list[list[Activity]]:
    return [list(step) for _, step in itertools.groupby(activities, key=lambda activity: activity.seq)]


# -- cursors -------------------------------------------------------------------------------------------------------


def open_app(store: Store, making: Making) -> App:
    if making is debate:
        return App(store, models=Models(openers={"scripted": brief}))
    return app_of(store, *FILED, HELLO)


@pytest.mark.parametrize("making", [chat, debate])
def test_nothing_is_lost_or_repeated_wherever_a_reader_is_cut(store: Callable[[], Store], making: Making) -> None:
    async def main() -> None:
        async with open_app(store(), making) as app:
            id = await making(app)
            whole = await read(app, id)

            assert any(len(step) > 1 for step in grouped(whole))
            await check_all_cuts(app, id, whole)
        async with open_app(store(), making) as app:  # after a restart
            assert await read(app, id) == whole
            await check_all_cuts(app, id, whole)

    asyncio.run(main())


def test_a_reader_that_is_cut_within_a_step_hears_the_rest_of_it(store: Callable[[], Store]) -> None:
    async def main() -> None:
        async with app_of(store(), HELLO) as app:
            id = await chat(app)
            whole = await read(app, id)
            (replied,) = [activity for activity in whole if activity.kind == "replied"]
            rest = await read(app, id, replied.cursor)

            assert rest[-1].seq == replied.seq
            assert (rest[-1].kind, rest[-1].facts["status"]) == ("status", "completed")
            assert rest[-1].cursor == await app.threads.cursor(id)

    asyncio.run(main())


def test_the_past_of_a_thread_ends_at_its_cursor(store: Callable[[], Store]) -> None:
    async def main() -> None:
        async with app_of(store(), HELLO, HELLO) as app:
            id = await chat(app)
            await app.threads.until_idle(id)
            past, cursor = await app.threads.history(id)
            await app.chats.say(id, "Again")

            assert past + await read(app, id, cursor) == await read(app, id)
            assert told(past) == "Good evening."

    asyncio.run(main())


def backup_and_restore(store: Store, tmp_path: Path, take: bool) -> None:
    """Take a backup of a closed store, or restore it."""
    backup = tmp_path / "backup.db"
    if isinstance(store, MemoryStore):
        if take:
            store.kept = store.backup()  # type: ignore[attr-defined]
        else:
            store.restore(store.kept, "1" * 16)  # type: ignore[attr-defined]
    elif take:
        maintenance.backup(tmp_path / "threads.db", backup, print)
    else:
        maintenance.restore(tmp_path / "threads.db", backup, print, replace=True)


def test_a_reader_with_a_cursor_of_another_past_is_told_where_it_continues(
    store: Callable[[], Store], tmp_path: Path
) -> None:
    async def live(reply: str, id: str | None = None) -> tuple[str, list[Activity]]:
        async with app_of(store(), [TextDelta(reply)]) as app:
            id = id or await new_chat(app)
            await app.chats.say(id, "Hello")
            return id, await read(app, id)

    async def check(id: str, shared: list[Activity], lost: list[Activity], whole: list[Activity]) -> None:
        async with app_of(store()) as app:
            await check_all_cuts(app, id, whole)
            for number, activity in enumerate(lost, 1):
                if number <= len(shared):
                    assert await read(app, id, activity.cursor) == whole[number:]
                    continue
                for reading in (read(app, id, activity.cursor), follow(app, id, activity.cursor, 1)):
                    with pytest.raises(OtherHistory) as caught:
                        await reading
                    past = [one for one in lost if one.seq <= caught.value.shared]
                    assert past + await read(app, id, caught.value.resume) == whole
                with pytest.raises(OtherHistory):
                    await app.threads.until_idle(id, activity.cursor)

    id, shared = asyncio.run(live("One."))
    backup_and_restore(store(), tmp_path, take=True)
    lost = asyncio.run(live("Two.", id))[1]
    backup_and_restore(store(), tmp_path, take=False)
    whole = asyncio.run(live("Three.", id))[1]

    assert lost[: len(shared)] == shared == whole[: len(shared)]
    asyncio.run(check(id, shared, lost, whole))


def test_a_cursor_of_the_last_step_that_was_removed_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "threads.db"

    async def live(*replies: str) -> tuple[str, list[Activity]]:
        async with app_of(SqliteStore(path), *([TextDelta(reply)] for reply in replies)) as app:
            id = await new_chat(app)
            for _ in replies:
                await app.chats.say(id, "Hello")
                await app.threads.until_idle(id)
            return id, await read(app, id)

    async def check(id: str, whole: list[Activity], first: int) -> None:
        async with app_of(SqliteStore(path)) as app:
            last = [activity for activity in whole if activity.seq == first - 1][-1]
            assert await read(app, id, last.cursor) == [activity for activity in whole if activity.seq >= first]
            changes = app.threads.follow_all({id: 0})
            heard = [await anext(changes), await anext(changes)]
            assert [change.kind for change in heard] == ["behind", "moved"]
            assert heard[1].cursor.endswith(f":{first - 1}")

    id, whole = asyncio.run(live(*(["Yes."] * 40)))
    seqs = {activity.seq for activity in whole}
    (item,) = compaction.compact(path, compaction.Policy(20, EVERY_AGE), print)
    assert item.last in seqs
    asyncio.run(check(id, whole, item.last + 1))


def test_what_there_is_not_cannot_be_followed(store: Callable[[], Store]) -> None:
    async def main() -> None:
        async with app_of(store()) as app:
            for reading in (read(app, "none"), follow(app, "none", 0, 1), app.threads.cursor("none")):
                with pytest.raises(UnknownThread, match="there is no thread 'none'"):
                    await reading
            with pytest.raises(UnknownThread, match="there is no thread 'none'"):
                await app.threads.until_idle("none")
            id = await new_chat(app)
            for text in ("", "7", "h:", "h:1.", "h:1.x", "h:-1"):
                with pytest.raises(ValueError, match="is not a cursor"):
                    await read(app, id, text)

    asyncio.run(main())
