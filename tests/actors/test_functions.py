"""Plain functions as actors: they answer soon, and eager ones at once."""

import asyncio
import gc
import warnings

import pytest

from antiphon import assign, create_actor, create_machine, from_task, wait_for
from antiphon.actors.errors import NoEventLoop
from antiphon.actors.tasks import MAX_EAGER_ANSWERS
from tests.actors.test_tasks import at, invoking


def value_next(look):
    """Return a value as it is after the event loop's next iteration."""
    loop = asyncio.get_running_loop()
    values = loop.create_future()
    loop.call_soon(lambda: values.set_result(look()))
    return values


def test_a_plain_function_answers_when_the_loop_has_its_turn():
    async def main():
        actor = create_actor(invoking(from_task(lambda: "answer"), onDone="done")).start()
        before = actor.get_snapshot().value
        return before, await value_next(lambda: actor.get_snapshot().value)

    assert asyncio.run(main()) == ("busy", "done")


def test_an_eager_function_answers_at_once_and_needs_no_event_loop():
    actor = create_actor(invoking(from_task(lambda: "answer", eager=True), onDone="done")).start()

    assert actor.get_snapshot().value == "done"


def test_a_function_that_is_not_eager_needs_an_event_loop():
    errors = []
    failed = {"target": "failed", "actions": lambda context, event: errors.append(event["error"])}
    actor = create_actor(invoking(from_task(lambda: "answer"), onError=failed)).start()

    assert actor.get_snapshot().value == "failed"
    assert isinstance(errors[0], NoEventLoop)


@pytest.mark.parametrize("eager", [False, True])
def test_a_plain_function_may_give_something_to_wait_for(eager):
    async def wait():
        return "answer"

    async def main():
        actor = create_actor(invoking(from_task(lambda: wait(), eager=eager), onDone="done")).start()
        assert actor.get_snapshot().value == "busy"
        await wait_for(actor, at("done"), timeout=1)

    asyncio.run(main())


def test_what_a_plain_function_gave_is_let_go_when_its_state_is_left():
    async def wait():
        raise AssertionError("it never runs")

    async def main():
        actor = create_actor(invoking(from_task(lambda: wait()), onDone="done")).start()
        actor.send({"type": "LEAVE"})
        assert await value_next(lambda: actor.get_snapshot().value) == "away"

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        asyncio.run(main())
        gc.collect()
    assert [str(warning.message) for warning in warned] == []


def test_an_answer_that_comes_after_its_state_was_left_is_ignored():
    async def main():
        actor = create_actor(invoking(from_task(lambda: "answer"), onDone="done")).start()
        actor.send({"type": "LEAVE"})
        return await value_next(lambda: actor.get_snapshot().value)

    assert asyncio.run(main()) == "away"


@pytest.mark.parametrize("eager", [False, True])
def test_a_plain_function_that_raises_is_an_error_of_its_actor(eager):
    def fail():
        raise ValueError("no")

    async def main():
        actor = create_actor(invoking(from_task(fail, eager=eager), onError="failed")).start()
        return actor.get_snapshot().value

    assert asyncio.run(main()) == "failed"


def test_eager_functions_let_the_loop_have_its_turns():
    """However long they go on, other callbacks of the loop run."""
    counting = create_machine(
        {
            "initial": "on",
            "context": {"n": 0},
            "states": {
                "on": {
                    "invoke": {"src": "next", "onDone": {"target": "on", "reenter": True, "actions": "count"}},
                    "on": {"ENOUGH": "off"},
                },
                "off": {},
            },
        },
        actors={"next": from_task(lambda: None, eager=True)},
        actions={"count": assign({"n": lambda context: context["n"] + 1})},
    )

    async def main():
        actor = create_actor(counting).start()
        first = actor.get_snapshot().context["n"]
        second = await value_next(lambda: actor.get_snapshot().context["n"])
        actor.send({"type": "ENOUGH"})
        return first, second, actor.get_snapshot().value

    first, second, value = asyncio.run(main())
    assert (first, value) == (MAX_EAGER_ANSWERS, "off")
    assert second == 2 * MAX_EAGER_ANSWERS + 1
