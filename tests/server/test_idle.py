"""The end of an idle server: what counts as use, and that it ends without it."""

import asyncio
from pathlib import Path

import pytest

from antiphon.app import App
from antiphon.server.context import ServerContext
from antiphon.server.settings import ServerSettings
from antiphon.server.windows.idle import end_when_idle, is_busy

SLOW = '[[replies]]\nsteps = [{text = "One "}, {delay_ms = 60000}, {text = "two."}]\n'


async def in_use(app: App, requests: int = 0, **counters: int) -> bool:
    context = ServerContext(app, ServerSettings(idle_s=600))
    for name, number in counters.items():
        setattr(context.metrics, name, number)
    return await is_busy(context, requests=requests)


def test_a_server_without_threads_is_idle_and_a_request_or_a_stream_is_use() -> None:
    async def scenario() -> list[bool]:
        async with App(":memory:") as app:
            return [await in_use(app), await in_use(app, running=1), await in_use(app, requests=1, running=1)]

    assert asyncio.run(scenario()) == [False, True, False]


def test_a_running_thread_is_use_until_it_has_ended(tmp_path: Path) -> None:
    (tmp_path / "slow.toml").write_text(SLOW)

    async def scenario() -> list[bool]:
        async with App(":memory:") as app:
            chat = await app.chats.create(model=f"scripted:{tmp_path / 'slow.toml'}")
            await app.chats.say(chat, "Count")
            running = await in_use(app)
            await app.chats.stop(chat)
            await app.chats.until_idle(chat)
            return [running, await in_use(app)]

    assert asyncio.run(scenario()) == [True, False]


@pytest.mark.parametrize(("delay_ms", "expected"), [(60_000, True), (3_600_000, False)])
def test_a_timer_that_is_due_soon_is_use(delay_ms: int, expected: bool) -> None:
    async def scenario() -> bool:
        async with App(":memory:") as app:
            chat = await app.chats.create(model="scripted:demo")
            await app.runtime.post(chat, {"type": "RENAME", "title": "later"}, delay_ms=delay_ms)
            return await in_use(app)

    assert asyncio.run(scenario()) is expected


def test_an_idle_server_is_stopped_and_one_with_requests_is_not() -> None:
    async def scenario() -> tuple[bool, bool]:
        async with App(":memory:") as app:
            context = ServerContext(app, ServerSettings(idle_s=0.05))
            stopped = asyncio.Event()
            context.metrics.running = 1
            ending = asyncio.create_task(end_when_idle(context, stopped.set))
            await asyncio.sleep(0.15)
            before = stopped.is_set()
            context.metrics.running = 0
            await asyncio.wait_for(ending, 30)
            return before, stopped.is_set()

    assert asyncio.run(scenario()) == (False, True)
