"""Times of what a thread records: of its end, and of the messages of its chat."""

import asyncio
from typing import Any

import pytest

from antiphon import App, MemoryStore, initial_transition, transition
from antiphon.providers.base import TextDelta
from antiphon.threads import thread_machine
from tests.fixtures.chats import Teller

START: Any = {"type": "START", "at": 5}


@pytest.mark.requirement("S3-39")
@pytest.mark.parametrize("type", ["COMPLETE", "FAIL", "STOP", "INTERRUPT"])
def test_an_end_has_the_time_of_its_event_or_of_its_step(type: Any) -> None:
    running, _ = transition(thread_machine, initial_transition(thread_machine)[0], START)

    def ends_at(event: Any, **facts: Any) -> int | None:
        return transition(thread_machine, running, event, **facts)[0].context["completedAt"]

    assert ends_at({"type": type, "at": 7}, now=9) == 7
    assert ends_at({"type": type}, now=9.4) == 9
    assert ends_at({"type": type}) is None


@pytest.mark.requirement("S3-39")
def test_a_thread_knows_when_it_ended_and_its_replies_when_they_came() -> None:
    async def main() -> None:
        teller = Teller([TextDelta("Yes.")], [TextDelta("No.")])
        async with App(MemoryStore(), models=teller.models) as app:
            thread = await app.threads.create("chat", model="scripted:teller")
            before = app.runtime.now()
            for _ in range(2):
                await app.threads.say(thread, "Hello")
                await app.threads.until_idle(thread)
            messages = (await app.library.read(thread)).content["messages"].values()
            times = [before, *(message["at"] for message in messages), app.runtime.now()]
            ended = (await app.threads.state(thread)).get("completedAt")

            assert [message["role"] for message in messages] == ["user", "assistant"] * 2
            assert times == sorted(times)
            assert times[-2] <= ended <= times[-1]

    asyncio.run(main())
