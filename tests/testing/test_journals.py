"""Steps of a journal that are taken again in a test."""

import asyncio
from typing import Any

import pytest

from antiphon import assign, setup
from antiphon.app import App, own_machines
from antiphon.runtime.records import Entry, Origin
from antiphon.testing import replay_steps

COUNTER = setup(actions={"count": assign({"n": lambda context, event: context["n"] + event["by"]})}).create_machine(
    {
        "id": "counter",
        "context": {"n": 0},
        "initial": "low",
        "states": {"low": {"on": {"COUNT": {"target": "high", "actions": "count"}}}, "high": {"after": {5: "low"}}},
    }
)
START = (1, "", {"type": "xstate.init"})
COUNT = (2, "", {"type": "COUNT", "by": 3})


def test_steps_are_taken_again() -> None:
    snapshot = replay_steps(COUNTER, [START, COUNT])

    assert (snapshot["value"], snapshot["context"]) == ("high", {"n": 3})


def test_steps_continue_from_a_snapshot() -> None:
    snapshot = replay_steps(COUNTER, [START])
    after = replay_steps(COUNTER, [COUNT], snapshot=snapshot, after=1)

    assert (after["value"], after["context"]) == ("high", {"n": 3})


def test_the_end_of_a_delay_is_a_step() -> None:
    snapshot = replay_steps(COUNTER, [START, COUNT, (7, "", {"type": "xstate.after.5.counter.high"})])

    assert snapshot["value"] == "low"


async def talk(last: int | None) -> tuple[list[Entry], Origin, Any]:
    """The journal of a chat, what it began with, and its snapshot after a step."""
    async with App(":memory:") as app:
        thread = await app.threads.create("chat", model="scripted:demo")
        await app.threads.say(thread, "Hello")
        await app.threads.until_idle(thread)
        entries = await app.runtime.store.entries(thread)
        return entries, await app.runtime.origin(thread), await app.runtime.snapshot(thread, last, copy=True)


@pytest.mark.parametrize("last", [4, None])
def test_the_journal_of_a_thread_gives_its_snapshot(last: int | None) -> None:
    thread_machine = next(machine for machine in own_machines() if machine.id == "thread")
    entries, origin, stored = asyncio.run(talk(last))
    steps = [(entry.at, entry.to, entry.event) for entry in entries[:last]]

    assert replay_steps(thread_machine, steps, input=origin.input, history=origin.history) == stored
