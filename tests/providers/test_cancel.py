"""Whoever stops reading stops paying: the connection is closed at once and no task is left."""

import asyncio
import gc

import pytest

from antiphon.providers.base import TextDelta
from antiphon.providers.reply import Reply
from tests.fixtures.matrix import GRACE
from tests.fixtures.providers import FORMATS, HELLO, run, stand

pytestmark = pytest.mark.requirement("X-5")


async def read_some(provider, reply, count):
    async for delta in provider.stream(HELLO):
        reply.add(delta)
        count -= isinstance(delta, TextDelta)
        if not count:
            break


@pytest.mark.parametrize("format", FORMATS)
def test_cancelling_the_task_closes_the_connection(format):
    async def work():
        async with stand() as here:
            provider = here.open(format, "slow")
            reply = Reply(provider.model, HELLO)
            reader = asyncio.create_task(read_some(provider, reply, -1))
            while reply.text.count("Grüß") < 2:
                await asyncio.sleep(0)
            request = here.fake.requests[0]
            before = request.deltas
            reader.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reader
            await request.over.wait()
            return request.ended, request.deltas - before, reply.usage

    ended, more, usage = run(work())
    assert ended == "client closed"
    assert more <= GRACE
    assert usage.estimated
    assert usage.output > 0


@pytest.mark.parametrize("format", FORMATS)
def test_breaking_out_of_the_loop_closes_the_connection_too(format):
    async def work():
        async with stand() as here:
            provider = here.open(format, "slow")
            await read_some(provider, Reply(provider.model, HELLO), 3)
            gc.collect()
            await here.fake.requests[0].over.wait()
            return here.fake.requests[0]

    request = run(work())
    assert request.ended == "client closed"
    assert request.deltas <= 3 + GRACE


def test_cancelling_before_the_answer_ends_the_request():
    async def work():
        async with stand() as here:
            provider = here.open("openai", "silent")
            reader = asyncio.create_task(read_some(provider, Reply(provider.model, HELLO), -1))
            while not (here.fake.requests and here.fake.requests[0].waiting.is_set()):
                await asyncio.sleep(0)
            reader.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reader
            await here.fake.requests[0].over.wait()
            return here.fake.requests[0].ended

    assert run(work()) == "client closed"


def test_many_cancelled_streams_leave_nothing():
    async def work():
        async with stand() as here:
            before = len(asyncio.all_tasks())
            provider = here.open("anthropic", "slow")
            await asyncio.gather(*(read_some(provider, Reply(provider.model, HELLO), 1) for _ in range(50)))
            await asyncio.gather(*(request.over.wait() for request in here.fake.requests))
            for _ in range(100):
                await asyncio.sleep(0)
            return len(asyncio.all_tasks()) - before, len(here.fake.requests)

    assert run(work()) == (0, 50)
