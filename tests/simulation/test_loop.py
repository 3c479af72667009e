"""The simulated loop has its own time and order, and the callbacks of dead processes never run."""

import asyncio

import pytest

from antiphon.testing.simulation.loop import SimulatedLoop, Stalled
from antiphon.testing.simulation.processes import Crash, Died, Process


@pytest.fixture
def loop():
    loop = SimulatedLoop()
    yield loop
    loop.dispose()


def new_process(number=1):
    return Process(number, lambda name: False)


def test_an_hour_takes_no_time(loop):
    loop.run_until_complete(asyncio.sleep(3600))

    assert loop.time() == 3600


def test_timers_fire_in_the_order_of_their_times(loop):
    calls = []
    for delay in (3, 1, 2):
        loop.call_later(delay, calls.append, delay)
    loop.run_until_complete(asyncio.sleep(4))

    assert calls == [1, 2, 3]


def test_pick_decides_what_runs_next():
    calls = []
    loop = SimulatedLoop(lambda count: count - 1)
    for name in "abc":
        loop.call_soon(calls.append, name)
    loop.run_until_complete(asyncio.sleep(1))
    loop.dispose()

    assert calls == ["c", "b", "a"]


def test_a_deadlock_is_reported(loop):
    with pytest.raises(Stalled, match="no timer is set"):
        loop.run_until_complete(loop.create_future())


def test_an_endless_loop_is_reported():
    async def circle():
        while True:
            await asyncio.sleep(0)

    loop = SimulatedLoop(limit=1000)
    with pytest.raises(Stalled, match="endless loop"):
        loop.run_until_complete(circle())
    loop.dispose()


def test_work_for_an_executor_is_done_in_the_order_in_which_it_was_given():
    calls = []

    async def main():
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(None, calls.append, number) for number in range(5)))

    loop = SimulatedLoop(lambda count: count - 1)
    loop.run_until_complete(main())
    loop.dispose()

    assert calls == [0, 1, 2, 3, 4]


def test_nothing_of_a_dead_process_runs_not_even_its_clean_up(loop):
    calls = []

    async def work():
        try:
            await asyncio.sleep(1)
            calls.append("work")
        finally:
            calls.append("clean-up")

    async def main():
        process = new_process()
        process.start(work())
        await asyncio.sleep(0.5)
        process.die()
        await asyncio.sleep(10)
        return list(calls)

    assert loop.run_until_complete(main()) == []


def test_nothing_of_a_paused_process_runs_before_it_is_resumed(loop):
    async def work(calls):
        for number in range(3):
            await asyncio.sleep(1)
            calls.append((number, asyncio.get_running_loop().time()))

    async def main():
        process = new_process()
        calls = []
        process.start(work(calls))
        await asyncio.sleep(1.5)
        process.pause_all()
        process.pause_all()
        await asyncio.sleep(10)
        assert (calls, process.is_paused) == ([(0, 1)], True)
        process.resume()
        await asyncio.sleep(10)
        return calls

    assert loop.run_until_complete(main()) == [(0, 1), (1, 11.5), (2, 12.5)]


def test_a_call_to_a_process_that_dies_raises_died(loop):
    async def main():
        process = new_process()
        asyncio.get_running_loop().call_later(1, process.die)
        with pytest.raises(Died):
            await process.call(asyncio.sleep(2))

    loop.run_until_complete(main())


def test_a_process_dies_at_the_point_that_was_chosen(loop):
    passed = []

    async def work(process):
        for name in ("before", "after"):
            process.point(name)
            passed.append(name)

    async def main():
        process = Process(1, lambda name: name == "after")
        with pytest.raises(Died):
            await process.call(work(process))
        with pytest.raises(Crash):
            process.point("later")

    loop.run_until_complete(main())

    assert passed == ["before"]
