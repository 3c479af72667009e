"""Invoked actors with a bound on their time: an option beyond XState."""

import asyncio

import pytest

from antiphon import SimulatedClock, create_actor, create_machine, from_callback, from_task, wait_for
from antiphon.chart.errors import ChartError

IDLE = from_callback(lambda: None)


def running(invoke, *, work=IDLE, delays=None):
    """An actor that runs a callback with a bound on its time, and its clock."""
    busy = {"invoke": {"src": "work", "id": "work", **invoke}, "on": {"LEAVE": "away"}}
    states = {"busy": busy, "away": {"on": {"BACK": "busy"}}, "late": {}, "failed": {}, "done": {}}
    clock = SimulatedClock()
    machine = create_machine({"initial": "busy", "states": states}, actors={"work": work}, delays=delays)
    return create_actor(machine, clock=clock).start(), clock


def test_on_timeout_is_taken_when_the_actor_takes_too_long():
    actor, clock = running({"timeout": 100, "onTimeout": "late", "onError": "failed"})

    clock.increment(99)
    assert actor.get_snapshot().value == "busy"
    clock.increment(1)

    assert actor.get_snapshot().value == "late"


def test_actor_is_stopped_when_it_takes_too_long_even_if_its_state_stays():
    calls = []
    work = from_callback(lambda: lambda: calls.append("stopped"))
    actor, clock = running({"timeout": 100, "onTimeout": {"actions": lambda: calls.append("late")}}, work=work)

    clock.increment(100)

    assert (actor.get_snapshot().value, dict(actor.get_snapshot().children)) == ("busy", {})
    assert sorted(calls) == ["late", "stopped"]


def test_on_error_is_taken_without_on_timeout_and_says_what_happened():
    values = []
    failed = {"target": "failed", "actions": lambda context, event: values.append(event)}
    actor, clock = running({"timeout": 100, "onError": failed})

    clock.increment(100)

    assert actor.get_snapshot().value == "failed"
    error = {"name": "TimeoutError", "message": "actor 'work' took too long", "code": "timeout"}
    assert values == [{"type": "xstate.error.actor.work", "error": error, "actorId": "work"}]


def test_timeout_may_be_the_name_of_a_delay():
    actor, clock = running({"timeout": "patience", "onTimeout": "late"}, delays={"patience": lambda context: 40})

    clock.increment(40)

    assert actor.get_snapshot().value == "late"


def test_timeout_is_forgotten_when_the_state_is_left_and_starts_anew_when_it_is_entered_again():
    actor, clock = running({"timeout": 100, "onTimeout": "late"})

    clock.increment(60)
    actor.send({"type": "LEAVE"})
    clock.increment(60)
    assert actor.get_snapshot().value == "away"
    actor.send({"type": "BACK"})
    clock.increment(60)
    assert actor.get_snapshot().value == "busy"
    clock.increment(40)

    assert actor.get_snapshot().value == "late"


@pytest.mark.parametrize("ending", [{}, {"onDone": {"actions": lambda: None}}, {"onDone": []}])
def test_timeout_is_forgotten_when_the_actor_is_done(ending):
    async def quick():
        return 1

    async def main():
        clock = SimulatedClock()
        busy = {"invoke": {"src": "work", "id": "work", "timeout": 100, "onTimeout": "late", **ending}}
        chart = {"initial": "busy", "states": {"busy": busy, "late": {}}}
        actor = create_actor(create_machine(chart, actors={"work": from_task(quick)}), clock=clock).start()
        await wait_for(
            actor, lambda _: actor.get_snapshot().children["work"].get_snapshot().status == "done", timeout=1
        )
        clock.increment(1000)
        return actor.get_snapshot().value

    assert asyncio.run(main()) == "busy"


@pytest.mark.parametrize("ending", ["onDone", "onError"])
def test_guarded_ending_that_is_not_taken_forgets_the_timeout_too(ending):
    async def work():
        if ending == "onError":
            raise OSError

    async def main():
        clock = SimulatedClock()
        tried = asyncio.Event()
        never = {"guard": lambda: tried.set() or False, "target": "late"}
        busy = {"invoke": {"src": "work", "id": "work", "timeout": 100, "onTimeout": "late", ending: never}}
        chart = {"initial": "busy", "states": {"busy": busy, "late": {}}, "on": {"*": {"actions": lambda: None}}}
        actor = create_actor(create_machine(chart, actors={"work": from_task(work)}), clock=clock).start()
        await tried.wait()
        clock.increment(1000)
        return actor.get_snapshot().value

    assert asyncio.run(main()) == "busy"


def test_error_of_the_actor_forgets_the_timeout():
    async def broken():
        raise OSError("no network")

    async def main():
        clock = SimulatedClock()
        failed = asyncio.Event()
        busy = {
            "invoke": {
                "src": "work",
                "timeout": 100,
                "onTimeout": "late",
                "onError": {"actions": lambda: failed.set()},
            }
        }
        chart = {"initial": "busy", "states": {"busy": busy, "late": {}}}
        actor = create_actor(create_machine(chart, actors={"work": from_task(broken)}), clock=clock).start()
        await failed.wait()
        clock.increment(1000)
        return actor.get_snapshot().value

    assert asyncio.run(main()) == "busy"


def test_result_that_comes_after_the_timeout_is_ignored():
    async def main():
        clock = SimulatedClock()
        answer = asyncio.Event()

        async def slow():
            await answer.wait()
            return 1

        busy = {"invoke": {"src": "work", "timeout": 100, "onTimeout": "late", "onDone": "done"}}
        chart = {"initial": "busy", "states": {"busy": busy, "late": {"on": {"*": "done"}}, "done": {}}}
        actor = create_actor(create_machine(chart, actors={"work": from_task(slow)}), clock=clock).start()
        clock.increment(100)
        answer.set()
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)
        return actor.get_snapshot().value

    assert asyncio.run(main()) == "late"


def test_two_actors_of_one_state_have_timeouts_of_their_own():
    invokes = [
        {"src": "work", "id": name, "timeout": timeout, "onTimeout": {"actions": {"type": "note", "params": name}}}
        for name, timeout in (("slow", 200), ("quick", 100))
    ]
    calls = []
    clock = SimulatedClock()
    machine = create_machine(
        {"invoke": invokes},
        actors={"work": IDLE},
        actions={"note": lambda context, event, params: calls.append(params)},
    )
    actor = create_actor(machine, clock=clock).start()

    clock.increment(100)
    assert (calls, list(actor.get_snapshot().children)) == (["quick"], ["slow"])
    clock.increment(100)

    assert (calls, list(actor.get_snapshot().children)) == (["quick", "slow"], [])


def test_timeout_that_leads_nowhere_is_refused():
    chart = {"invoke": {"src": "work", "timeout": 100}}

    with pytest.raises(ChartError, match=r"invoke\.timeout: a timeout needs onTimeout or onError"):
        create_machine(chart, actors={"work": IDLE})


def test_unknown_name_of_a_timeout_is_refused():
    chart = {"invoke": {"src": "work", "timeout": "patience", "onTimeout": {}}}

    with pytest.raises(ChartError, match=r"invoke\.timeout: no delay named 'patience'; known: haste"):
        create_machine(chart, actors={"work": IDLE}, delays={"haste": 1})


def test_wrong_target_of_on_timeout_is_refused_with_its_place():
    chart = {"initial": "a", "states": {"a": {"invoke": {"src": "work", "timeout": 100, "onTimeout": "nowhere"}}}}

    with pytest.raises(ChartError) as refused:
        create_machine(chart, actors={"work": IDLE})

    assert refused.value.path == "states.a.invoke.onTimeout.target"


def test_restored_actor_keeps_its_timeout():
    busy = {"invoke": {"src": "work", "id": "work", "timeout": 100, "onTimeout": "late"}}
    machine = create_machine({"initial": "busy", "states": {"busy": busy, "late": {}}}, actors={"work": IDLE})
    clock = SimulatedClock()
    first = create_actor(machine, clock=clock).start()
    clock.increment(30)

    later = SimulatedClock(30)
    actor = create_actor(machine, snapshot=first.get_persisted_snapshot(timers=True), clock=later).start()
    later.increment(70)

    assert (actor.get_snapshot().value, dict(actor.get_snapshot().children)) == ("late", {})
