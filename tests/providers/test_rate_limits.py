"""Rate limits of keys: requests wait for their turn, in a fair order, and a paused key pauses all."""

import asyncio

import pytest

from antiphon import SimulatedClock
from antiphon.errors import Code
from antiphon.messages import Usage, user
from antiphon.providers.base import Done, Model, Request, TextDelta, UsageDelta
from antiphon.providers.errors import ProviderError
from antiphon.providers.rate_limits import SHARER, KeyLimiter, RateLimitedProvider, RateLimits
from antiphon.providers.registry import Models
from tests.fixtures.puppet import run, settle

HELLO = Request((user("Hello"),))
BUSY = ProviderError(Code.RATE_LIMITED, "slow down", retry_after_ms=5_000)


class Counting:
    """A model that replies at once, and counts who asks it."""

    model = Model("busy:one", "busy", "one")

    def __init__(self, *errors: ProviderError) -> None:
        self.asked: list[str] = []
        self.errors = list(errors)

    async def stream(self, request: Request):
        self.asked.append(SHARER.get())
        if self.errors:
            raise self.errors.pop(0)
        yield TextDelta("Yes.")
        yield UsageDelta(Usage(40, 60), "one")
        yield Done("end")


async def ask(provider, sharer=""):
    SHARER.set(sharer)
    return [delta async for delta in provider.stream(HELLO)]


def asked_at(limits, requests, steps, *errors):
    """Return how many requests were made after each step of time."""

    async def test():
        clock = SimulatedClock()
        model = Counting(*errors)
        provider = RateLimitedProvider(model, KeyLimiter(limits, clock))
        tasks = [asyncio.create_task(ask(provider, f"t{number}")) for number in range(requests)]
        counts = []
        for step_ms in steps:
            clock.increment(step_ms)
            await settle()
            counts.append(len(model.asked))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return counts

    return run(test)


def test_without_limits_nothing_waits():
    assert asked_at(None, 3, [0]) == [3]


def test_requests_of_a_minute_are_limited_and_the_others_wait():
    assert asked_at(RateLimits(requests_per_minute=2), 5, [0, 59_999, 1, 60_000]) == [2, 2, 4, 5]


def test_tokens_of_a_minute_are_limited_by_what_the_replies_used():
    assert asked_at(RateLimits(tokens_per_minute=150), 3, [0, 59_999, 1]) == [2, 2, 3]


def test_a_request_that_is_larger_than_the_limit_is_made_alone():
    assert asked_at(RateLimits(tokens_per_minute=1), 2, [0, 59_999, 1]) == [1, 1, 2]


def test_a_key_that_is_rate_limited_is_paused_for_everybody():
    assert asked_at(RateLimits(concurrent=1), 3, [0, 4_999, 1], BUSY) == [1, 1, 3]


def test_a_key_is_not_paused_for_longer_than_a_minute():
    error = ProviderError(Code.RATE_LIMITED, "slow down", retry_after_ms=86_400_000)

    assert asked_at(RateLimits(concurrent=1), 3, [0, 59_999, 1], error) == [1, 1, 3]


def test_an_error_that_does_not_say_when_to_try_again_pauses_nothing():
    assert asked_at(RateLimits(concurrent=1), 3, [0], ProviderError(Code.RATE_LIMITED, "slow down")) == [3]


def test_requests_at_once_are_limited_and_an_end_gives_the_next_turn():
    async def test():
        limiter = KeyLimiter(RateLimits(concurrent=1))
        first = limiter.turn()
        await first.__aenter__()
        second = asyncio.create_task(limiter.turn().__aenter__())
        await settle()
        assert not second.done()
        await first.__aexit__(None, None, None)
        await second

    run(test)


def test_threads_take_turns_whoever_asked_more_often():
    async def test():
        model = Counting()
        limiter = KeyLimiter(RateLimits(concurrent=1))
        provider = RateLimitedProvider(model, limiter)
        async with limiter.turn():
            tasks = [asyncio.create_task(ask(provider, name)) for name in ("greedy",) * 4 + ("modest",)]
            await settle()
        await asyncio.gather(*tasks)
        return model.asked

    assert run(test).index("modest") == 1


def test_a_request_that_is_cancelled_while_it_waits_takes_no_turn():
    async def test():
        model = Counting()
        limiter = KeyLimiter(RateLimits(concurrent=1))
        provider = RateLimitedProvider(model, limiter)
        async with limiter.turn():
            waiting = asyncio.create_task(ask(provider, "a"))
            await settle()
            waiting.cancel()
            await settle()
        await ask(provider, "b")
        return model.asked

    assert run(test) == ["b"]


def test_a_turn_that_was_given_to_a_cancelled_request_is_given_back():
    async def test():
        limiter = KeyLimiter(RateLimits(concurrent=1))
        held = limiter.turn()
        await held.__aenter__()
        waiting = asyncio.create_task(limiter.turn().__aenter__())
        await settle()
        await held.__aexit__(None, None, None)
        waiting.cancel()
        await settle()
        async with limiter.turn():
            return waiting.cancelled()

    assert run(test)


def test_all_models_with_one_key_share_its_limits():
    async def test():
        models = Models(openers={"busy": lambda reference: Counting()}, rate_limits={"busy": RateLimits(concurrent=1)})
        one = models.open("busy:one").stream(HELLO)
        await anext(one)
        other = asyncio.create_task(ask(models.open("busy:two")))
        await settle()
        is_waiting = not other.done()
        await one.aclose()
        return is_waiting, len(await other)

    assert run(test) == (True, 3)


@pytest.mark.parametrize("limits", [{"concurrent": 0}, {"requests_per_minute": 1.5}, {"tokens_per_minute": True}])
def test_limits_are_whole_numbers_from_one(limits):
    with pytest.raises(ValueError, match=next(iter(limits))):
        RateLimits(**limits)
