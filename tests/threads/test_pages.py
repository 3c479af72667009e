"""Threads opened by clients: a page ends at its cursor, and messages say what happens if the thread is busy."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from antiphon.app import App
from antiphon.threads.errors import Busy, Refused


def play(scene: Callable[[App], Awaitable[None]]) -> None:
    async def main() -> None:
        async with App(":memory:") as app:
            await scene(app)

    asyncio.run(main())


def test_a_page_and_the_activities_after_its_cursor_are_the_whole_thread() -> None:
    async def scene(app: App) -> None:
        thread = await app.threads.create("chat", model="scripted:demo")
        await app.threads.say(thread, "Hello")
        page = await app.threads.read(thread)
        await app.threads.until_idle(thread)
        whole, _ = await app.threads.history(thread)
        before = await app.threads.activities(thread, limit=10_000)
        after = await app.threads.activities(thread, page.cursor)

        seqs = [activity.cursor for activity in whole]
        assert page.view.status == "running"
        assert [activity.cursor for activity in before.activities] == seqs
        assert [activity.cursor for activity in after.activities] == seqs[-len(after.activities) :]
        assert all(activity.seq > int(page.cursor.rpartition(":")[2]) for activity in after.activities)

    play(scene)


def test_activities_come_in_pages_of_whole_steps() -> None:
    async def scene(app: App) -> None:
        thread = await app.threads.create("chat", model="scripted:demo")
        await app.threads.say(thread, "Hello")
        await app.threads.until_idle(thread)
        whole = (await app.threads.history(thread))[0]
        pages = [await app.threads.activities(thread, limit=3)]
        while pages[-1].has_more:
            pages.append(await app.threads.activities(thread, pages[-1].cursor, limit=3))

        assert [activity for page in pages for activity in page.activities] == whole
        assert all(len(page.activities) >= 3 for page in pages[:-1])

    play(scene)


def test_the_events_that_a_thread_takes_are_by_actor_and_public() -> None:
    async def scene(app: App) -> None:
        thread = await app.threads.create("chat", model="scripted:demo")
        assert "START" in (await app.threads.can(thread))[""]
        await app.threads.say(thread, "Hello")
        can = await app.threads.can(thread)

        assert "STOP" in can[""]
        assert "cancel" in can["chat"]
        assert not {"COMPLETE", "REPLY.COMPLETED", "turn_timeout"} & {*can[""], *can["chat"]}

    play(scene)


def test_a_message_to_a_busy_thread_is_rejected_or_interrupts_it() -> None:
    async def scene(app: App) -> None:
        thread = await app.threads.create("chat", model="scripted:demo")
        await app.threads.say(thread, "Hello")
        with pytest.raises(Busy):
            await app.threads.say(thread, "Again", on_busy="reject")
        with pytest.raises(Refused, match="was created with onBusy 'reject'"):
            await app.threads.say(thread, "Again", on_busy="queue")
        with pytest.raises(Refused, match="known: reject, queue, interrupt, merge"):
            await app.threads.say(thread, "Again", on_busy="shout")

        await app.threads.say(thread, "Again", on_busy="interrupt")
        assert await app.threads.until_idle(thread) == "completed"
        messages = (await app.library.read(thread)).content["messages"].values()
        assert [message["role"] for message in messages].count("user") == 2

    play(scene)


def test_a_message_that_was_taken_is_a_duplicate_though_the_thread_is_busy() -> None:
    async def scene(app: App) -> None:
        thread = await app.threads.create("chat", model="scripted:demo")
        first = await app.threads.say(thread, "Hello", id="key", on_busy="reject")
        second = await app.threads.say(thread, "Hello", id="key", on_busy="reject")

        assert (first.status, second.status) == ("accepted", "duplicate")
        assert first.seq == second.seq

    play(scene)


def test_threads_of_all_kinds_take_an_id_of_the_caller() -> None:
    async def scene(app: App) -> None:
        settings = {"topic": "Should cars leave our city?", "models": ["scripted:debate"]}
        assert await app.threads.create("chat", model="scripted:demo", id="my-chat") == "my-chat"
        assert await app.threads.create("debate", id="my-debate", **settings) == "my-debate"
        for id in ("my-chat", "last", "a/b", "", "x" * 65):
            with pytest.raises(Refused):
                await app.threads.create("chat", model="scripted:demo", id=id)

    play(scene)
