"""Delays where no event loop runs: the first event after a delay takes it along, or a loop that runs later."""

import asyncio

import pytest

from antiphon import create_actor, create_machine, to_awaitable, wait_for
from antiphon.actors.clock import RealClock
from antiphon.threads import streaming_machine

CHART = {
    "initial": "waiting",
    "states": {
        "waiting": {"after": {10: "late"}, "on": {"CANCEL": "cancelled", "LOOK": {"actions": lambda: None}}},
        "late": {"after": {10: "over"}, "on": {"LOOK": {"actions": lambda: None}}},
        "cancelled": {},
        "over": {"type": "final"},
    },
}


class SettableClock(RealClock):
    """The real clock at a time that a test sets."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self):
        return self.time


def started(**options):
    clock = SettableClock()
    return create_actor(create_machine(CHART), clock=clock, **options).start(), clock


@pytest.mark.parametrize("shared", [False, True])
def test_the_first_event_after_a_delay_takes_it_along(shared):
    actor, clock = started(shared=shared)
    clock.time = 9
    actor.send({"type": "LOOK"})
    assert actor.get_snapshot().value == "waiting"

    clock.time = 10
    actor.send({"type": "LOOK"})
    assert actor.get_snapshot().value == "late"


def test_delays_that_follow_each_other_are_each_counted_from_their_own_start():
    actor, clock = started()
    clock.time = 100
    actor.send({"type": "LOOK"})
    assert actor.get_snapshot().value == "late"

    clock.time = 110
    actor.send({"type": "LOOK"})
    assert actor.get_snapshot().status == "done"


def test_a_cancelled_delay_never_ends():
    actor, clock = started()
    actor.send({"type": "CANCEL"})
    clock.time = 100
    actor.send({"type": "LOOK"})

    assert actor.get_snapshot().value == "cancelled"
    assert actor.system.direct is actor.system._owned


def test_the_delays_of_a_stopped_actor_are_forgotten():
    actor, clock = started()
    actor.stop()
    clock.time = 100
    actor.send({"type": "LOOK"})

    assert actor.get_snapshot().value == "waiting"


def test_an_event_loop_that_runs_later_takes_the_delays_over():
    actor = create_actor(create_machine(CHART)).start()

    async def main():
        await wait_for(actor, lambda snapshot: snapshot.value == "late")
        await to_awaitable(actor)

    asyncio.run(main())
    assert actor.get_snapshot().status == "done"


def test_a_delay_that_a_loop_has_taken_over_can_be_cancelled():
    actor, _ = started()

    async def main():
        actor.send({"type": "LOOK"})
        actor.send({"type": "CANCEL"})
        await asyncio.sleep(0)

    asyncio.run(main())
    assert actor.get_snapshot().value == "cancelled"


@pytest.mark.requirement("S0-02", "S0-80")
def test_the_streaming_machine_works_without_an_event_loop():
    actor = create_actor(streaming_machine).start()
    actor.send({"type": "SEND", "prompt": "Hello"})
    actor.send({"type": "TEXT_CHUNK", "content": "Hi."})
    actor.send({"type": "COMPLETE", "costUsd": 0.01, "durationMs": 5, "totalTokens": 7})

    snapshot = actor.get_snapshot()
    assert (snapshot.status, snapshot.value, snapshot.context["text"]) == ("active", "complete", "Hi.")


@pytest.mark.requirement("S0-87")
def test_a_reply_that_never_comes_times_out_with_the_next_event():
    clock = SettableClock()
    actor = create_actor(streaming_machine, clock=clock).start()
    actor.send({"type": "SEND", "prompt": "Hello"})
    clock.time = 300_000
    actor.send({"type": "TEXT_CHUNK", "content": "Hi."})

    assert actor.get_snapshot().value == "error"
