"""Following threads: cursors at which nothing is lost, threads that are idle, and many threads at once."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon import OtherHistory, Quarantined
from antiphon.app import App
from antiphon.errors import Code
from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Delta, Done, Request, TextDelta, ToolStart
from antiphon.providers.errors import ProviderError
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
from tests.fixtures.faulty_store import FaultyStore

FILED = ([ToolStart("c1", "file")], [TextDelta("Filed, "), TextDelta("as asked.")])
HELLO: list[Delta] = [TextDelta("Good "), TextDelta("evening.")]
AUTO = {"mode": "auto"}
EVERY_AGE = 1 << 60
COUNTED = 40
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


# -- until idle ----------------------------------------------------------------------------------------------------


class Held(Clerk):
    """A toolbox whose tool ends when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.began = asyncio.Event()
        self.may_end = asyncio.Event()

    async def call(self, call: ToolCall) -> ToolResult:
        """Wait to be let go."""
        self.began.set()
        await self.may_end.wait()
        return await super().call(call)


async def turns() -> None:
    """Let everything else run that can."""
    for _ in range(200):
        await asyncio.sleep(0)


def test_a_thread_that_was_sent_nothing_is_idle() -> None:
    async def main() -> None:
        async with app_of(MemoryStore()) as app:
            id = await new_chat(app)

            assert await app.threads.until_idle(id) == "pending"
            assert [activity.facts["status"] for activity in await read(app, id)] == ["pending"]

    asyncio.run(main())


def test_a_thread_is_idle_when_its_reply_is_complete_and_nothing_is_known_of_receipts() -> None:
    async def main() -> None:
        async with app_of(MemoryStore(), HELLO) as app:
            id = await chat(app)

            assert await app.threads.until_idle(id) == "completed"
            assert await app.threads.until_idle(id) == "completed"
            idle = app.threads.until_idle(id)
            assert told([activity async for activity in idle]) == "Good evening."
            assert idle.status == "completed"

    asyncio.run(main())


def test_a_thread_whose_model_fails_is_idle() -> None:
    class Failing(Teller):
        async def stream(self, request: Any) -> Any:
            raise ProviderError(Code.UNSUPPORTED, "no model today")
            yield

    async def main() -> None:
        async with App(MemoryStore(), models=Failing().models, toolbox=Clerk()) as app:
            id = await new_chat(app)
            await app.chats.say(id, "Hello")

            assert await app.threads.until_idle(id) == "failed"

    asyncio.run(main())


def test_a_thread_that_waits_for_a_person_is_idle_until_it_is_answered() -> None:
    async def main() -> None:
        async with app_of(MemoryStore(), *FILED) as app:
            id = await new_chat(app, consent={"mode": "ask"})
            await app.chats.say(id, "File this")

            assert await app.threads.until_idle(id) == "waiting"
            await app.threads.answer(id, decision="allow")
            assert await app.threads.until_idle(id) == "completed"

    asyncio.run(main())


def test_a_thread_is_not_idle_while_its_tool_runs() -> None:
    async def main() -> None:
        box = Held()
        async with app_of(MemoryStore(), *FILED, box=box) as app:
            id = await chat(app)
            await box.began.wait()
            idle = asyncio.ensure_future(app.threads.until_idle(id))
            await turns()
            assert not idle.done()
            box.may_end.set()

            assert await idle == "completed"

    asyncio.run(main())


def test_a_stopped_thread_is_idle_when_its_partial_reply_is_stored() -> None:
    async def main() -> None:
        box = Held()
        async with app_of(MemoryStore(), *FILED, box=box) as app:
            id = await chat(app)
            await box.began.wait()
            await app.threads.stop(id)

            assert await app.threads.until_idle(id) == "stopped"
            assert (await app.runtime.wait_until(id, lambda state: True)).tasks == 0
            assert await read(app, id, await app.threads.cursor(id)) == []

    asyncio.run(main())


def test_a_message_that_waits_for_its_turn_keeps_a_thread_from_being_idle() -> None:
    async def main() -> None:
        box = Held()
        async with app_of(MemoryStore(), *FILED, HELLO, box=box) as app:
            id = await new_chat(app, onBusy="queue")
            await app.chats.say(id, "File this")
            await box.began.wait()
            await app.chats.say(id, "Hello")
            box.may_end.set()

            assert await app.threads.until_idle(id) == "completed"
            assert told(await read(app, id)) == "Filed, as asked.Good evening."

    asyncio.run(main())


def test_a_letter_that_is_rejected_leaves_a_thread_idle() -> None:
    async def main() -> None:
        async with app_of(MemoryStore()) as app:
            id = await new_chat(app)
            await app.runtime.post(id, {"type": "NOPE"}, delay_ms=1)
            quiet = app.runtime.wait_until(id, lambda state: is_idle(state) and not state.timers)

            assert (await quiet).seq == 1
            assert await app.threads.until_idle(id) == "pending"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("state", "idle"),
    [
        (TreeState(1, "active", "pending", False, 0, 0), True),
        (TreeState(1, "active", "pending", True, 0, 0), False),
        (TreeState(1, "active", "running", False, 0, 1), False),
        (TreeState(1, "active", "running", False, 1, 0), False),  # the next attempt at a reply
        (TreeState(1, "active", "running", False, 0, 0), True),  # which nothing will change
        (TreeState(1, "active", "waiting", False, 1, 1), True),
        (TreeState(1, "active", "waiting", True, 1, 1), False),
        (TreeState(1, "active", "completed", False, 1, 0), True),
        (TreeState(1, "active", "stopped", False, 0, 1), False),
        (TreeState(1, "error", "running", False, 1, 1), True),
    ],
)
def test_idle_means_that_nothing_is_left_to_do_now(state: TreeState, idle: bool) -> None:
    assert is_idle(state) is idle


def test_waiting_for_a_thread_ends_with_the_runtime() -> None:
    async def main() -> None:
        box = Held()
        async with app_of(MemoryStore(), *FILED, box=box) as app:
            id = await chat(app)
            await box.began.wait()
            idle = asyncio.ensure_future(app.threads.until_idle(id))
            reading = asyncio.ensure_future(read(app, id))
            await turns()
            await app.runtime.stop(0.0)
            for waiting in (idle, reading):
                with pytest.raises(NotRunning):
                    await waiting

    asyncio.run(main())


async def quarantine(app: App, id: str) -> None:
    async with app.runtime.loop.exclusively(id), app.runtime.trees.unloaded(id):
        await app.runtime.trees.quarantine.quarantine(id, "Traceback\nKeyError: 'colour'")


def test_followers_of_a_quarantined_thread_are_told_the_reason() -> None:
    async def main() -> None:
        box = Held()
        async with app_of(MemoryStore(), *FILED, HELLO, box=box) as app:
            id = await chat(app)
            await box.began.wait()
            past = await app.threads.history(id)
            idle = asyncio.ensure_future(app.threads.until_idle(id))
            following = asyncio.ensure_future(follow(app, id, past[1], 1))
            waiting = app.threads.follow(id, past[1], wait_for_release=True)
            patient = asyncio.ensure_future(anext(waiting))
            await turns()
            await quarantine(app, id)
            for reader in (idle, following, asyncio.ensure_future(follow(app, id, past[1], 1))):
                with pytest.raises(Quarantined, match="KeyError: 'colour'"):
                    await reader
            await turns()
            assert not patient.done()

            assert await app.runtime.release(id)
            rest = await read(app, id, past[1])
            assert [await patient, *[await anext(waiting) for _ in rest[1:]]] == rest

    asyncio.run(main())


# -- many threads --------------------------------------------------------------------------------------------------


class Listener:
    """A reader of many threads, which reads when it is told to."""

    def __init__(self, app: App, cursors: dict[str, int | str] | None = None) -> None:
        self._changes = app.threads.follow_all(cursors)
        self._next: asyncio.Task[ThreadChange] | None = None

    async def read(self) -> list[ThreadChange]:
        """Everything that there is to read now."""
        heard: list[ThreadChange] = []
        while True:
            self._next = self._next or asyncio.ensure_future(anext(self._changes))  # type: ignore[arg-type]
            await turns()
            if not self._next.done():
                return heard
            heard.append(self._next.result())
            self._next = None


def kinds(changes: list[ThreadChange], thread: str) -> list[str]:
    return [change.kind for change in changes if change.thread == thread]


def activities_of(changes: list[ThreadChange], thread: str) -> list[Activity]:
    return [change.activity for change in changes if change.thread == thread and change.activity is not None]


def test_many_threads_are_followed_together_with_the_list() -> None:
    async def main() -> None:
        async with app_of(MemoryStore(), HELLO, HELLO, HELLO) as app:
            one = await chat(app)
            await app.threads.until_idle(one)
            half = (await read(app, one))[2]
            two = await new_chat(app)
            listener = Listener(app, {one: half.cursor, two: 0})
            first = await listener.read()

            assert first[0] == ThreadChange("behind")
            assert activities_of(first, one) == await read(app, one, half.cursor)
            assert kinds(first, two) == ["activity"]

            three = await chat(app)
            await app.chats.say(two, "Hello")
            await app.threads.until_idle(two)
            await app.threads.until_idle(three)
            await app.threads.rename(one, "Greetings")
            then = await listener.read()

            assert activities_of(first + then, two) == await read(app, two)
            assert kinds(then, three)[0] == "created"
            assert set(kinds(then, three)) <= {"created", "changed"}
            assert kinds(then, one) == ["changed"]
            assert "behind" not in [change.kind for change in then]

    asyncio.run(main())


class Counter(Teller):
    """A model that says numbers, each by itself."""

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Count."""
        for number in range(COUNTED):
            yield TextDelta(f"{number} ")
            await turns()
        yield Done("end")


def test_words_of_a_followed_thread_are_not_read_from_the_store() -> None:
    async def main() -> None:
        store = FaultyStore(MemoryStore(), lambda number: False)
        async with App(store, models=Counter().models, toolbox=Clerk(), window_ms=0) as app:
            id = await new_chat(app)
            listener = Listener(app, {id: 0})
            changes = await listener.read()
            await app.chats.say(id, "Count")
            store.calls.clear()
            while len(texts := [a for a in activities_of(changes, id) if a.kind == "text"]) < COUNTED:
                changes += await listener.read()
            reads = [name for name in store.calls if name in ("entries", "summary")]

            assert [a for a in await read(app, id) if a.kind == "text"] == texts
            assert len(reads) < len(texts) / 2

    asyncio.run(main())


def test_a_reader_of_many_threads_that_is_cut_anywhere_misses_nothing() -> None:
    async def main() -> None:
        async with app_of(MemoryStore(), HELLO, HELLO) as app:
            ids = [await chat(app), await chat(app)]
            whole = {id: await read(app, id) for id in ids}
            changes = await Listener(app, dict.fromkeys(ids, 0)).read()
            for cut in range(len(changes)):
                before = [change for change in changes[:cut] if change.activity is not None]
                cursors: dict[str, int | str] = dict.fromkeys(ids, 0)
                cursors.update({change.thread: change.cursor for change in before})
                after = await Listener(app, cursors).read()
                assert {id: activities_of(before + after, id) for id in ids} == whole

    asyncio.run(main())


def test_a_reader_that_is_too_slow_is_told_and_reads_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "WATCHED", 3)

    async def main() -> None:
        async with app_of(MemoryStore(), HELLO, HELLO) as app:
            followed = await chat(app)
            await app.threads.until_idle(followed)
            listener = Listener(app, {followed: 0})
            await listener.read()
            cursor = await app.threads.cursor(followed)
            (watch,) = app.runtime.feeds._watches
            await new_chat(app)  # the reader takes this one, and is slow with it
            await turns()
            await app.chats.say(followed, "Again")
            await app.threads.until_idle(followed)
            for _ in range(5):
                await new_chat(app)
                assert len(watch.changes.roots) <= 3
            heard = await listener.read()

            assert [change.kind for change in heard[:2]] == ["created", "behind"]
            assert activities_of(heard, followed) == await read(app, followed, cursor)
            assert await listener.read() == []

    asyncio.run(main())


def test_the_list_says_that_a_thread_is_quarantined_released_or_gone() -> None:
    async def main() -> None:
        store = MemoryStore()
        async with app_of(store, HELLO) as app:
            id = await new_chat(app)
            listener = Listener(app)
            await listener.read()
            await quarantine(app, id)
            assert kinds(await listener.read(), id) == ["quarantined"]
            await app.runtime.release(id)
            assert kinds(await listener.read(), id) == ["changed"]
            await app.threads.archive(id)
            app.runtime.trees.discard(id)
            del store.trees[id]
            assert kinds(await listener.read(), id) == ["removed"]

    asyncio.run(main())


def test_a_reader_of_many_threads_continues_after_a_restore() -> None:
    store = MemoryStore()

    async def main() -> None:
        async with app_of(store, HELLO) as app:
            id = await new_chat(app)
            shared = await app.threads.cursor(id)
            backup = store.backup()
            await app.chats.say(id, "Hello")
            await app.threads.until_idle(id)
            lost = await app.threads.cursor(id)
        store.restore(backup, "1" * 16)
        async with app_of(store, HELLO) as app:
            await app.chats.say(id, "Good morning")
            await app.threads.until_idle(id)
            behind, moved, *rest = await Listener(app, {id: lost}).read()

            assert behind.kind == "behind"
            assert (moved.kind, moved.cursor) == ("moved", shared)
            assert "belongs to another past" in (moved.reason or "")
            assert activities_of(rest, id) == await read(app, id, shared)
            assert moved.to_json() == {"kind": "moved", "thread": id, "cursor": shared, "reason": moved.reason}

    asyncio.run(main())


def test_following_many_threads_ends_with_the_runtime() -> None:
    async def main() -> None:
        async with app_of(MemoryStore()) as app:
            changes = app.threads.follow_all()
            assert (await anext(changes)).kind == "behind"
            waiting = asyncio.ensure_future(anext(changes, None))  # type: ignore[arg-type]
            await turns()
        assert await waiting is None

    asyncio.run(main())
