"""After deltas a stream is not read for a while, if its reader asks for that: what follows is read together."""

import asyncio
from itertools import pairwise

import pytest

from antiphon.providers.base import TextDelta
from antiphon.providers.errors import ProviderError
from antiphon.providers.http.client import HttpTransport
from antiphon.providers.remote import READ_PAUSE_MS
from antiphon.testing.fake_llm.scenarios import WORDS
from tests.fixtures.providers import HELLO, run, stand

PAUSE_MS = 20.0


class RecordedReads(HttpTransport):
    """Transport that records the times at which lines of a body are read."""

    __slots__ = ("times",)

    def __init__(self):
        super().__init__()
        self.times = []

    async def send(self, request):
        response = await super().send(request)
        return RecordedResponse(response, self.times)


class RecordedResponse:
    """Response whose lines are read one by one."""

    def __init__(self, response, times):
        self.status = response.status
        self.headers = response.headers
        self.close = response.close
        self._response = response
        self._times = times

    async def chunks(self):
        async for chunk in self._response.chunks():
            for line in chunk.splitlines(keepends=True):
                self._times.append(asyncio.get_running_loop().time())
                yield line


def read_deltas(transport, pause, scenario="text"):
    deltas = []

    async def work():
        READ_PAUSE_MS.set(pause)
        async with stand(transport=transport) as here:
            try:
                async for delta in here.open("anthropic", scenario).stream(HELLO):
                    deltas.append(delta)
            except ProviderError as error:
                deltas.append(error.code)

    run(work())
    return deltas


@pytest.mark.parametrize(("pause_ms", "pauses"), [(PAUSE_MS, True), (0.0, False)])
def test_the_next_read_waits_for_the_pause_after_deltas_and_only_then(pause_ms, pauses):
    transport = RecordedReads()

    deltas = read_deltas(transport, lambda: pause_ms)
    gaps = sorted((after - before) * 1000 for before, after in pairwise(transport.times))

    assert len(gaps) > len(deltas) >= len(WORDS)
    assert (gaps[-len(WORDS)] >= PAUSE_MS) == pauses
    assert gaps[0] < PAUSE_MS


@pytest.mark.parametrize("scenario", ["text", "ok", "garbage", "overload"])
def test_texts_that_are_read_together_become_one_delta_and_all_others_stay(scenario):
    apart = read_deltas(HttpTransport(), float, scenario)
    together = read_deltas(HttpTransport(), lambda: PAUSE_MS, scenario)

    assert joined(together) == joined(apart)
    assert len(together) < len(apart)


def joined(deltas):
    """The deltas, with texts that follow each other as one."""
    result = []
    for delta in deltas:
        if isinstance(delta, TextDelta) and result and isinstance(result[-1], TextDelta):
            result[-1] = TextDelta(result[-1].text + delta.text)
        else:
            result.append(delta)
    return result
