"""After deltas a stream is not read for a while, if its reader asks for that: what follows is read together."""

from antiphon.providers.base import TextDelta
from antiphon.providers.http.client import HttpTransport
from antiphon.providers.remote import READ_PAUSE_MS
from tests.fixtures.providers import HELLO, run, stand

PAUSE_MS = 0.01


class RecordedReads(HttpTransport):
    """Transport that records when the body of a response is read, and when its reader is asked for a pause."""

    __slots__ = ("events",)

    def __init__(self):
        super().__init__()
        self.events = []

    async def send(self, request):
        response = await super().send(request)
        return RecordedResponse(response, self.events)

    def pause(self):
        """Return the pause."""
        self.events.append("pause")
        return PAUSE_MS


class RecordedResponse:
    """Response whose frames are read one by one."""

    def __init__(self, response, events):
        self.status = response.status
        self.headers = response.headers
        self.close = response.close
        self._response = response
        self._events = events

    async def chunks(self):
        async for chunk in self._response.chunks():
            for frame in chunk.splitlines(keepends=True):
                self._events.append("read")
                yield frame


def read_text(transport, pause):
    async def work():
        READ_PAUSE_MS.set(pause)
        async with stand(transport=transport) as here:
            deltas = [delta async for delta in here.open("anthropic", "text").stream(HELLO)]
        return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))

    return run(work())


def test_a_reader_that_asks_for_pauses_gets_the_same_text():
    paused = RecordedReads()

    assert read_text(paused, paused.pause) == read_text(HttpTransport(), float)


def test_each_read_with_deltas_is_followed_by_one_pause():
    paused = RecordedReads()

    text = read_text(paused, paused.pause)

    assert text
    assert "read pause read" in " ".join(paused.events)
    assert "pause pause" not in " ".join(paused.events)
    assert paused.events[-1] == "read"
