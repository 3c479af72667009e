"""Tasks and streams: asynchronous functions as actors, cancelled for real when their state is left."""

import asyncio
import gc
import warnings

import pytest

from antiphon import create_actor, create_machine, from_stream, from_task, to_awaitable, wait_for
from antiphon.actors.errors import NoEventLoop


def invoking(logic, **transitions):
    """A machine that runs some logic until it ends or `LEAVE` comes."""
    busy = {"invoke": {"src": "work", "id": "work", **transitions}, "on": {"LEAVE": "away"}}
    states = {"busy": busy, "away": {}, "done": {}, "failed": {}}
    return create_machine({"initial": "busy", "states": states}, actors={"work": logic})


def at(value):
    return lambda snapshot: snapshot.matches(value)


def test_a_task_reports_its_progress_as_the_context_of_its_actor_until_it_is_stopped():
    scopes = []

    async def main():
        async def work(scope):
            scopes.append(scope)
            scope.report("half")
            return "whole"

        actor = create_actor(from_task(work))
        contexts = []
        actor.subscribe(lambda snapshot: contexts.append(snapshot.context))
        output = await to_awaitable(actor.start())
        scopes[0].report("too late")
        return output, contexts

    assert asyncio.run(main()) == ("whole", [None, "half", "half"])


def test_task_is_cancelled_when_its_state_is_left():
    async def main():
        began = asyncio.Event()
        ended = asyncio.Event()

        async def work():
            try:
                began.set()
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                ended.set()
                raise

        actor = create_actor(invoking(from_task(work))).start()
        await began.wait()
        actor.send({"type": "LEAVE"})
        await asyncio.wait_for(ended.wait(), 1)
        return actor.get_snapshot().value

    assert asyncio.run(main()) == "away"


def test_task_is_cancelled_when_the_root_is_stopped():
    async def main():
        began = asyncio.Event()
        ended = asyncio.Event()

        async def work():
            try:
                began.set()
                await asyncio.get_running_loop().create_future()
            finally:
                ended.set()

        actor = create_actor(invoking(from_task(work))).start()
        await began.wait()
        actor.stop()
        await asyncio.wait_for(ended.wait(), 1)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(main()) == set()


def test_task_that_was_left_before_it_ran_never_runs():
    ran = []

    async def work():
        ran.append(True)

    async def main():
        actor = create_actor(invoking(from_task(work), onDone="done")).start()
        actor.send({"type": "LEAVE"})
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*tasks, return_exceptions=True)
        return actor.get_snapshot().value

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert (asyncio.run(main()), ran) == ("away", [])
        gc.collect()
    # Python warns of coroutines that nobody awaited.
    assert [str(warning.message) for warning in warned] == []


def test_result_that_comes_after_its_state_was_left_is_ignored():
    async def main():
        began = asyncio.Event()
        stubborn = asyncio.Event()

        async def work():
            try:
                began.set()
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                stubborn.set()
            return "late"

        actor = create_actor(invoking(from_task(work), onDone="done")).start()
        await began.wait()
        actor.send({"type": "LEAVE"})
        await stubborn.wait()
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))
        return actor.get_snapshot().value

    assert asyncio.run(main()) == "away"


def test_callbacks_of_a_cancelled_task_are_called_at_once():
    calls = []

    async def work(*, scope):
        scope.on_cancel(lambda: calls.append("cancelled"))
        began.set()
        await asyncio.get_running_loop().create_future()

    async def main():
        actor = create_actor(invoking(from_task(work))).start()
        await began.wait()
        actor.send({"type": "LEAVE"})
        return list(calls)

    began = asyncio.Event()
    assert asyncio.run(main()) == ["cancelled"]


def test_callbacks_of_a_task_that_is_done_are_not_called():
    calls = []

    async def work(*, scope):
        scope.on_cancel(lambda: calls.append("cancelled"))

    async def main():
        actor = create_actor(invoking(from_task(work), onDone="done")).start()
        await wait_for(actor, at("done"), timeout=1)
        actor.stop()

    asyncio.run(main())
    assert calls == []


def test_task_gets_its_input_and_gives_its_output():
    values = []

    async def work(input):
        return input * 2

    done = {"target": "done", "actions": lambda context, event: values.append(event["output"])}

    async def main():
        actor = create_actor(invoking(from_task(work), input=lambda context: 21, onDone=done)).start()
        await wait_for(actor, at("done"), timeout=1)

    asyncio.run(main())
    assert values == [42]


def test_error_of_a_task_is_given_to_on_error():
    values = []

    async def work():
        raise OSError("no network")

    failed = {"target": "failed", "actions": lambda context, event: values.append(event["error"])}

    async def main():
        actor = create_actor(invoking(from_task(work), onError=failed)).start()
        await wait_for(actor, at("failed"), timeout=1)
        return actor.get_snapshot().status

    assert asyncio.run(main()) == "active"
    assert [(type(error), str(error)) for error in values] == [(OSError, "no network")]


def test_error_of_a_task_that_nobody_handles_ends_the_machine():
    async def work():
        raise OSError("no network")

    async def main():
        await to_awaitable(create_actor(invoking(from_task(work))).start())

    with pytest.raises(OSError, match="no network"):
        asyncio.run(main())


def test_task_that_cancels_itself_does_not_hang_its_machine():
    async def work():
        raise asyncio.CancelledError

    async def main():
        actor = create_actor(invoking(from_task(work), onDone="done", onError="failed")).start()
        return (await wait_for(actor, lambda snapshot: not snapshot.matches("busy"), timeout=0.2)).value

    assert asyncio.run(main()) == "failed"


def test_plain_function_may_give_an_awaitable_or_a_result():
    async def main():
        future = asyncio.get_running_loop().create_future()
        future.set_result("later")
        actors = [create_actor(from_task(lambda: future)).start(), create_actor(from_task(lambda: "now")).start()]
        return [await to_awaitable(actor) for actor in actors]

    assert asyncio.run(main()) == ["later", "now"]


def test_restored_task_runs_again_from_its_input():
    runs = []

    async def work(input):
        runs.append(input)
        await asyncio.get_running_loop().create_future()

    machine = invoking(from_task(work), input=7)

    async def main():
        first = create_actor(machine).start()
        await tick()
        saved = first.get_persisted_snapshot()
        first.stop()
        create_actor(machine, snapshot=saved).start()
        await tick()
        return saved["children"]["work"]["snapshot"]

    assert asyncio.run(main()) == {"status": "active", "input": 7}
    assert runs == [7, 7]


async def tick():
    """Let tasks that are ready run once."""
    ran = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(ran.set_result, None)
    await ran


async def letters(input):
    for letter in input:
        yield letter


def test_values_of_a_stream_are_given_to_on_snapshot_and_its_end_to_on_done():
    values = []
    each = {"actions": lambda context, event: values.append(event["snapshot"].context)}

    async def main():
        machine = invoking(from_stream(letters), input="abc", onSnapshot=each, onDone="done")
        await wait_for(create_actor(machine).start(), at("done"), timeout=1)

    asyncio.run(main())
    assert values == [None, "a", "b", "c"]


def test_error_of_a_stream_comes_after_its_values():
    values = []

    async def broken():
        yield 1
        raise OSError("cut off")

    each = {"actions": lambda context, event: values.append(event["snapshot"].context)}
    failed = {"target": "failed", "actions": lambda context, event: values.append(str(event["error"]))}

    async def main():
        actor = create_actor(invoking(from_stream(broken), onSnapshot=each, onError=failed)).start()
        await wait_for(actor, at("failed"), timeout=1)

    asyncio.run(main())
    assert values == [None, 1, "cut off"]


def test_stream_is_closed_when_its_state_is_left():
    async def main():
        began = asyncio.Event()
        ended = asyncio.Event()

        async def endless():
            try:
                yield 1
                began.set()
                await asyncio.get_running_loop().create_future()
            finally:
                ended.set()

        actor = create_actor(invoking(from_stream(endless), onSnapshot={})).start()
        await began.wait()
        actor.send({"type": "LEAVE"})
        await asyncio.wait_for(ended.wait(), 1)

    asyncio.run(main())


def test_stream_that_is_left_because_of_a_value_gives_no_more():
    values = []
    closed = []

    async def eager():
        try:
            for number in range(100):
                values.append(number)
                yield number
        finally:
            closed.append(True)

    enough = {"guard": lambda context, event: event["snapshot"].context == 3, "target": "away"}

    async def main():
        actor = create_actor(invoking(from_stream(eager), onSnapshot=enough, onDone="done")).start()
        await wait_for(actor, at("away"), timeout=1)
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)
        return actor.get_snapshot().value

    assert asyncio.run(main()) == "away"
    assert max(values) <= 4
    assert closed == [True]


@pytest.mark.parametrize("logic", [from_task(lambda: tick()), from_stream(lambda: letters("a"))])
def test_asynchronous_actor_without_a_loop_says_what_it_needs(logic):
    errors = []
    actor = create_actor(logic, id="worker")
    actor.subscribe(error=errors.append)

    actor.start()

    assert [type(error) for error in errors] == [NoEventLoop]
    assert str(errors[0]) == "actor 'worker' is asynchronous: start it inside a running event loop"


def test_machine_can_handle_that_there_is_no_loop():
    actor = create_actor(invoking(from_task(lambda: tick()), onError="failed")).start()

    assert actor.get_snapshot().value == "failed"


def test_every_task_has_a_key_of_its_own_and_one_attempt():
    async def main():
        seen = []

        async def work(scope):
            seen.append((scope.key, scope.key, scope.attempt))

        ids = iter(["a", "b"])
        twice = {"id": "one", "src": "work"}, {"id": "two", "src": "work"}
        machine = create_machine({"invoke": list(twice)}, actors={"work": from_task(work)})
        create_actor(machine, new_id=lambda: next(ids)).start()
        await asyncio.sleep(0)
        return sorted(seen)

    assert asyncio.run(main()) == [("a", "a", 1), ("b", "b", 1)]
