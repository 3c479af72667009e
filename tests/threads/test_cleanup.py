"""Deleting and archiving a thread clean up what is kept of it, and stop what works for it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest

from antiphon import App, MemoryStore
from antiphon.messages import ToolCall, ToolResult, Usage
from antiphon.providers.base import Delta, Model, Request, TextDelta, ToolStart, UsageDelta
from antiphon.providers.prices import Price, Prices
from antiphon.providers.registry import Models
from antiphon.runtime.errors import StoreError
from antiphon.threads.errors import UnknownThread
from antiphon.threads.owners import OwnerLimits, Owners
from tests.fixtures.chats import Clerk, Teller

MODEL = "paid:teller"
DEAR = Prices({MODEL: Price(Decimal(1_000_000), Decimal(1_000_000))})


class Talkative(Teller):
    """A model that answers anything, or nothing."""

    model = Model(MODEL, "paid", "teller")

    def __init__(self, *, answers: bool = True) -> None:
        super().__init__()
        self.answers = answers
        self.began = asyncio.Event()
        self.ended = asyncio.Event()

    @property
    def models(self) -> Models:
        """Models, of which this is the only one."""
        return Models(openers={"paid": lambda reference: self})

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Answer, or wait until the request is cancelled, and take a while to end."""
        self._replies = [[TextDelta("Yes."), UsageDelta(Usage(input=1, output=1), "teller")]]
        if not self.answers:
            self.began.set()
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0.01)
                self.ended.set()
        async for delta in super().stream(request):
            yield delta


class Slow(Clerk):
    """A tool that takes a while to be stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.began = asyncio.Event()
        self.has_ended = False

    async def call(self, call: ToolCall) -> ToolResult:
        """Work until cancelled."""
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            self.has_ended = True
        raise AssertionError


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def patient() -> None:
        async with asyncio.timeout(20):
            await main()

    asyncio.run(patient())


def owners_of(app: App) -> Owners:
    """The owners that an app keeps in memory."""
    owners: Any = app.chats.resources.forget.__self__  # type: ignore[attr-defined]
    assert isinstance(owners, Owners)
    return owners


async def talk(app: App, **settings: Any) -> str:
    thread = await app.threads.create("chat", model=MODEL, owner="ann", **settings)
    await app.threads.say(thread, "Hello")
    await app.threads.until_idle(thread)
    return thread


def memory_of(app: App, thread: str) -> list[str]:
    """The places in memory that have something of a thread."""
    runtime = app.runtime
    places = {
        "tree": runtime.trees.get(thread),
        "inbox": runtime.inboxes.has(thread),
        "busy": runtime.inboxes.is_busy(thread),
        "adopted": thread in runtime._recovery._adopted,
        "owner": thread in owners_of(app)._owners,
        "feed": thread in runtime.loop.feeds._tails,
        "tasks": [1 for _, scope in runtime.tasks._running.values() if scope.task.root == thread],
    }
    return [place for place, value in places.items() if value]


@pytest.mark.requirement("S3-58")
@pytest.mark.parametrize("end", ["delete", "archive"])
def test_nothing_of_a_thread_stays_in_memory(end: str) -> None:
    async def main() -> None:
        limits = OwnerLimits(usd_per_day=1e9)
        async with App(MemoryStore(), models=Talkative().models, prices=DEAR, limits=limits) as app:
            for _ in range(20):
                thread = await talk(app)
                assert {"tree", "owner"} <= set(memory_of(app, thread))
                if end == "delete":
                    await app.threads.delete(thread)
                else:
                    await app.threads.archive(thread)

                assert set(memory_of(app, thread)) <= {"adopted"} if end == "archive" else not memory_of(app, thread)
            assert (owners_of(app).known, app.runtime.tasks.running) == (0, 0)
            assert len(app.runtime.trees._trees) == 0

    run(main)


@pytest.mark.requirement("S3-58")
def test_the_rows_and_texts_of_a_deleted_thread_are_gone() -> None:
    async def main() -> None:
        async with App(MemoryStore(), models=Talkative().models) as app:
            thread = await talk(app, title="Pear trees")
            await app.threads.delete(thread)

            assert await app.library.latest(archived=None) == []
            assert await app.library.search("pear") == []
            assert await app.runtime.store.summary(thread) is None
            with pytest.raises(UnknownThread):
                await app.threads.status(thread)

    run(main)


@pytest.mark.requirement("S3-58")
def test_an_archived_thread_is_loaded_again_when_it_is_needed() -> None:
    async def main() -> None:
        async with App(MemoryStore(), models=Talkative().models) as app:
            thread = await talk(app)
            await app.threads.archive(thread)
            await app.threads.archive(thread, False)
            await app.threads.say(thread, "Again")

            assert await app.threads.until_idle(thread) == "completed"
            assert (await app.library.read(thread)).view.turns == 2

    run(main)


@pytest.mark.requirement("S3-58")
def test_a_running_thread_that_is_archived_goes_on() -> None:
    async def main() -> None:
        teller = Talkative(answers=False)
        async with App(MemoryStore(), models=teller.models) as app:
            thread = await app.threads.create("chat", model=MODEL)
            await app.threads.say(thread, "Hello")
            await app.threads.archive(thread)

            assert (await app.threads.status(thread), app.runtime.tasks.running) == ("running", 1)
            await app.threads.stop(thread)

    run(main)


@pytest.mark.requirement("S3-58", "X-5")
def test_a_reply_has_ended_when_its_thread_is_deleted() -> None:
    async def main() -> None:
        teller = Talkative(answers=False)
        async with App(MemoryStore(), models=teller.models) as app:
            thread = await app.threads.create("chat", model=MODEL)
            await app.threads.say(thread, "Hello")
            await teller.began.wait()
            await app.threads.delete(thread)

            assert teller.ended.is_set()
            assert memory_of(app, thread) == []

    run(main)


@pytest.mark.requirement("S3-58", "X-5")
def test_a_tool_has_ended_when_its_thread_is_deleted() -> None:
    async def main() -> None:
        box = Slow()
        teller = Teller([ToolStart("t1", "file")])
        async with App(MemoryStore(), models=teller.models, toolbox=box) as app:
            settings = {"options": {"tools": box.listed}}
            thread = await app.threads.create(
                "chat", model="scripted:teller", settings=settings, consent={"mode": "auto"}
            )
            await app.threads.say(thread, "File it")
            await box.began.wait()
            await app.threads.delete(thread)

            assert box.has_ended

    run(main)


class Stubborn(MemoryStore):
    """A store that deletes nothing."""

    async def delete(self, *arguments: Any, **options: Any) -> None:
        """Fail."""
        raise StoreError("the disk is gone")


def test_a_thread_that_cannot_be_deleted_is_interrupted_and_continues() -> None:
    async def main() -> None:
        teller = Talkative(answers=False)
        async with App(Stubborn(), models=teller.models) as app:
            thread = await app.threads.create("chat", model=MODEL)
            await app.threads.say(thread, "Hello")
            await teller.began.wait()
            with pytest.raises(StoreError, match="the disk is gone"):
                await app.threads.delete(thread)
            teller.answers = True

            assert await app.threads.until_idle(thread) == "interrupted"
            await app.threads.resume(thread)
            assert await app.threads.until_idle(thread) == "completed"

    run(main)


@pytest.mark.requirement("S3-58", "X-3")
def test_deleting_a_thread_gives_its_owner_nothing_back() -> None:
    async def main() -> None:
        limits = OwnerLimits(usd_per_day=3)
        async with App(MemoryStore(), models=Talkative().models, prices=DEAR, limits=limits) as app:
            for _ in range(2):
                await app.threads.delete(await talk(app))
            thread = await talk(app)

            assert await app.threads.status(thread) == "failed"
            assert (await app.threads.state(thread)).get("resultInfo")["error"]["code"] == "3004"

    run(main)
