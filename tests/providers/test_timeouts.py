"""Silence has three limits, counted in deltas and on an injected clock; a slow reader is never to blame."""

import asyncio

import pytest

from antiphon.actors.clock import SimulatedClock
from antiphon.providers.base import TextDelta, Timeouts
from antiphon.providers.errors import ProviderError
from antiphon.providers.http.idle_timer import IdleTimer
from tests.fixtures.providers import HELLO, TIMEOUTS, Outcome, read, run, stand, until

pytestmark = pytest.mark.requirement("S0-B10")


def test_time_passes_without_harm_before_each_limit():
    async def work():
        clock = SimulatedClock()
        async with stand(clock=clock) as here:
            outcome = Outcome()
            reader = asyncio.create_task(read(here.open("openai", "stall"), HELLO, outcome))
            await until(lambda: len(outcome.text) > 4)
            for _ in range(3):
                clock.increment((TIMEOUTS.between_deltas_ms - 1) / 3)
                await asyncio.sleep(0)
            early = reader.done()
            clock.increment(1)
            await reader
            return early, outcome.error

    early, error = run(work())
    assert not early
    assert (error.code, error.message) == ("1003", "the server was silent for 20 s")


def test_a_slow_reader_is_not_timed_out():
    async def work():
        clock = SimulatedClock()
        async with stand(clock=clock) as here:
            words = 0
            async for delta in here.open("anthropic", "text").stream(HELLO):
                words += isinstance(delta, TextDelta)
                clock.increment(10 * TIMEOUTS.first_delta_ms)
                await asyncio.sleep(0)
            return words

    assert run(work()) == 6


def test_a_request_may_bring_its_own_limits():
    async def work():
        clock = SimulatedClock()
        async with stand(clock=clock) as here:
            request = type(HELLO)(HELLO.messages, timeouts=Timeouts(first_delta_ms=50))
            reader = asyncio.create_task(read(here.open("google", "silent"), request))
            await until(lambda: here.fake.requests and here.fake.requests[0].waiting.is_set())
            clock.increment(50)
            return await reader

    assert run(work()).error.code == "1003"


def test_a_timeout_does_not_cancel_the_task_that_reads():
    async def work():
        clock = SimulatedClock()
        asyncio.get_running_loop().call_soon(clock.increment, 10)
        with pytest.raises(ProviderError):
            await watched(clock)
        return asyncio.current_task().cancelling()

    assert run(work()) == 0


async def watched(clock):
    with IdleTimer(clock, 10):
        await asyncio.sleep(3600)


def test_a_cancellation_at_the_moment_of_the_timeout_stays_a_cancellation():
    async def work():
        clock = SimulatedClock()
        task = asyncio.create_task(watched(clock))
        await asyncio.sleep(0)
        clock.increment(10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return task.cancelled()

    assert run(work())


def test_no_timer_is_left():
    async def work():
        clock = SimulatedClock()
        async with stand(clock=clock) as here:
            await read(here.open("mistral", "text"))
        return clock

    clock = run(work())
    assert len(clock._timers) == len(clock._cleared)
