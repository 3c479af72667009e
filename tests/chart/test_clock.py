"""Clocks: simulated time moves only when told to, real time needs a running event loop."""

import asyncio
import time

import pytest

from antiphon import SimulatedClock
from antiphon.actors.clock import RealClock
from antiphon.actors.errors import NoEventLoop


def test_simulated_time_stands_still():
    clock = SimulatedClock()

    assert (clock.now(), clock.now()) == (0, 0)
    assert SimulatedClock(500).now() == 500


def test_timers_fire_in_the_order_of_their_deadlines():
    clock = SimulatedClock()
    fired = []
    for delay in (30, 10, 20):
        clock.set_timeout(lambda delay=delay: fired.append(delay), delay)

    clock.increment(25)
    assert fired == [10, 20]
    clock.increment(5)

    assert fired == [10, 20, 30]


def test_cleared_timer_does_not_fire():
    clock = SimulatedClock()
    fired = []
    handle = clock.set_timeout(lambda: fired.append(1), 10)

    clock.clear_timeout(handle)
    clock.increment(100)

    assert fired == []


def test_timer_cleared_by_another_that_fires_first_does_not_fire():
    clock = SimulatedClock()
    fired = []
    clock.set_timeout(lambda: clock.clear_timeout(second), 10)
    second = clock.set_timeout(lambda: fired.append(1), 10)

    clock.increment(10)

    assert fired == []


def test_timer_that_fired_can_be_cleared_and_does_no_harm():
    clock = SimulatedClock()
    fired = []
    first = clock.set_timeout(lambda: fired.append(1), 10)
    clock.increment(10)

    clock.clear_timeout(first)
    clock.set_timeout(lambda: fired.append(2), 10)
    clock.increment(10)

    assert fired == [1, 2]


def test_timer_set_by_another_counts_from_the_time_moved_to():
    clock = SimulatedClock()
    fired = []
    clock.set_timeout(lambda: clock.set_timeout(lambda: fired.append(clock.now()), 10), 10)

    clock.increment(25)
    assert fired == []
    clock.increment(10)

    assert fired == [35]


def test_timer_without_delay_waits_for_the_clock_to_move():
    clock = SimulatedClock()
    fired = []
    clock.set_timeout(lambda: fired.append(1), 0)
    assert fired == []

    clock.increment(0)

    assert fired == [1]


def test_time_can_be_set_but_not_turned_back():
    clock = SimulatedClock()
    fired = []
    clock.set_timeout(lambda: fired.append(clock.now()), 10)

    clock.set(50)
    assert (clock.now(), fired) == (50, [50])
    with pytest.raises(ValueError, match="the clock is at 50 ms and cannot be set back to 49 ms"):
        clock.set(49)


def test_moving_time_inside_a_timer_does_not_nest():
    clock = SimulatedClock()
    fired = []

    def first():
        clock.increment(100)
        fired.append("first")

    clock.set_timeout(first, 10)
    clock.set_timeout(lambda: fired.append("second"), 20)

    clock.increment(10)

    assert (fired, clock.now()) == (["first", "second"], 110)


def test_timer_that_fails_does_not_block_the_clock():
    clock = SimulatedClock()
    fired = []
    clock.set_timeout(lambda: 1 / 0, 10)
    clock.set_timeout(lambda: fired.append(1), 10)

    with pytest.raises(ZeroDivisionError):
        clock.increment(10)
    clock.increment(0)

    assert fired == [1]


def test_real_clock_tells_the_time():
    before = time.time() * 1000

    assert before <= RealClock().now() <= time.time() * 1000


def test_real_clock_needs_a_running_loop():
    with pytest.raises(NoEventLoop, match="a delay needs a running asyncio event loop"):
        RealClock().set_timeout(lambda: None, 10)


def test_real_timers_fire_on_the_loop_unless_cleared():
    async def main():
        clock = RealClock()
        fired = []
        last = asyncio.Event()
        clock.clear_timeout(clock.set_timeout(lambda: fired.append("cleared"), 0))
        clock.set_timeout(lambda: fired.append("first"), 0)
        clock.set_timeout(last.set, 2)
        await asyncio.wait_for(last.wait(), 1)
        return fired

    assert asyncio.run(main()) == ["first"]
