"""The state of a thread is read without its content, so that a long conversation costs no more than a short one."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from antiphon.app import App
from antiphon.providers.base import TextDelta
from antiphon.stores.memory import MemoryStore
from antiphon.threads import UnknownThread
from tests.fixtures.chats import Teller

FEW = 5
MANY = 60


def talk(work: Callable[[App, str], Awaitable[Any]]) -> Any:
    """Run a coroutine on a chat after few turns, and after many; return both results."""

    async def run() -> tuple[Any, Any]:
        teller = Teller(*([TextDelta("Yes.")] for _ in range(MANY + 5)))
        async with App(MemoryStore(), models=teller.models) as app:
            id = await app.chats.create(model="scripted:teller", contextLimit=60)
            results = []
            for number in range(MANY):
                await whole_turn(app, id)
                if number + 1 in (FEW, MANY):
                    results.append(await work(app, id))
            return results[0], results[1]

    return asyncio.run(run())


async def whole_turn(app: App, id: str) -> None:
    receipt = await app.chats.say(id, "Is it so, and was it always so?")
    await app.chats.until_idle(id, receipt.cursor)


async def count_calls(work: Awaitable[Any]) -> int:
    """Return the number of Python functions that are called until something is done."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        await work
    finally:
        sys.setprofile(None)
    return calls


def test_a_status_costs_the_same_in_a_long_conversation() -> None:
    few, many = talk(lambda app, thread: count_calls(app.chats.status(thread)))
    assert few == many


def test_a_whole_turn_costs_the_same_in_a_long_conversation() -> None:
    few, many = talk(lambda app, thread: count_calls(whole_turn(app, thread)))
    assert many < 1.15 * few


def test_the_settings_of_a_thread_are_read_only() -> None:
    async def change(app: App, id: str) -> None:
        config: Any = await app.chats.config(id)
        assert config["model"] == "scripted:teller"
        with pytest.raises(TypeError, match="read-only"):
            config["model"] = "another"

    talk(change)


def test_a_state_is_that_of_a_thread_of_the_kind() -> None:
    async def read(app: App, id: str) -> Any:
        with pytest.raises(UnknownThread, match=f"thread '{id}' is a chat, not a run"):
            await app.runs.state(id)
        with pytest.raises(UnknownThread, match="there is no debate 'nobody'"):
            await app.debates.state("nobody")
        state = await app.threads.state(id)
        return state.value, state.status, state.get("kind"), state.get("nothing", 7)

    assert talk(read)[0] == ("completed", "active", "chat", 7)


def test_a_thread_has_content_once_it_has_begun() -> None:
    async def run() -> list[bool]:
        async with App(MemoryStore(), models=Teller([TextDelta("Yes.")]).models) as app:
            id = await app.chats.create(model="scripted:teller")
            before = await app.chats.has_content(id)
            await whole_turn(app, id)
            return [before, await app.chats.has_content(id)]

    assert asyncio.run(run()) == [False, True]
