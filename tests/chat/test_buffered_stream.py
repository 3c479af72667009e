"""Chunks that come close together are told as one, and a reply accumulates without a machine."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon import SimulatedClock
from antiphon.chat.batching import batch_events
from antiphon.chat.buffered_stream import BufferedStream, StreamState
from antiphon.chat.event_buffer import EventBuffer
from antiphon.messages import user
from antiphon.providers.base import Request
from antiphon.providers.scripted import ScriptedModel
from antiphon.threads.reply import reply_events
from tests.fixtures.puppet import run, settle
from tests.fixtures.streaming import COMPLETE, ERROR, FIRST, text, thinking, tool, tool_end


class Source:
    """Events that come when a test says so."""

    def __init__(self):
        self.queue = asyncio.Queue()
        self.closed = False

    async def events(self):
        try:
            while (event := await self.queue.get()) is not None:
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.closed = True


def batches_of(script, **options):
    """Return the batches of a script of events, and of milliseconds that pass."""
    clock = SimulatedClock()
    batches = []

    async def main():
        source = Source()

        async def read():
            async for batch in batch_events(source.events(), clock=clock, **options):
                batches.append([event.get("content", event["type"]) for event in batch])

        reading = asyncio.create_task(read())
        for step in script:
            if isinstance(step, int):
                clock.increment(step)
            else:
                source.queue.put_nowait(step)
            await settle()
        source.queue.put_nowait(None)
        await reading

    run(main)
    return batches


@pytest.mark.requirement("X-7", "S0-75")
def test_chunks_after_the_first_wait_for_each_other_for_fifty_milliseconds():
    chunks = [text("a"), 0, text("b"), 20, text("c"), 29, text("d"), 1, text("e"), 50]

    assert batches_of(chunks) == [["a"], ["bcd"], ["e"]]


@pytest.mark.requirement("X-7")
def test_a_chunk_after_a_pause_does_not_wait():
    assert batches_of([text("a"), 0, 50, text("b"), 0, text("c"), 49]) == [["a"], ["b"], ["c"]]


@pytest.mark.requirement("X-7")
def test_chunks_do_not_wait_once_there_are_four_kilobytes():
    assert batches_of([text("a"), text("b" * 4_096), text("c"), 50]) == [["a" + "b" * 4_096], ["c"]]


@pytest.mark.requirement("X-7")
def test_other_events_go_at_once_and_in_order():
    assert batches_of([FIRST, text("a"), text("b"), COMPLETE]) == [["FIRST_EVENT"], ["ab", "COMPLETE"]]


@pytest.mark.requirement("X-7", "S0-13")
def test_text_and_thinking_are_not_mixed():
    assert batches_of([thinking("a"), text("b"), text("c"), thinking("d"), 50]) == [["a", "bc", "d"]]


@pytest.mark.requirement("S0-76")
def test_chunks_of_different_requests_are_not_mixed():
    assert batches_of([text("a", requestId="r1"), text("b", requestId="r2"), 50]) == [["a", "b"]]


def test_what_waits_at_the_end_is_told():
    assert batches_of([text("a")]) == [["a"]]


def test_an_error_of_the_source_comes_after_what_was_told_before_it():
    with pytest.raises(OSError, match="gone"):
        batches_of([text("a"), OSError("gone")])


@pytest.mark.requirement("X-5", "S0-66")
def test_closing_the_batches_closes_the_source():
    async def main():
        source = Source()
        source.queue.put_nowait(FIRST)
        batches = batch_events(source.events(), clock=SimulatedClock())
        await anext(batches)
        await batches.aclose()
        return source.closed

    assert run(main)


script = st.lists(
    st.one_of(st.text(max_size=5).map(text), st.text(max_size=5).map(thinking), st.just(FIRST), st.just(30)),
    max_size=12,
)


@pytest.mark.requirement("X-7")
@settings(max_examples=50, deadline=None)
@given(script)
def test_batching_loses_nothing_and_changes_no_order(script):
    joined = "".join("".join(batch) for batch in batches_of(script))
    plain = "".join(event.get("content", event["type"]) for event in script if not isinstance(event, int))

    assert joined == plain


@pytest.mark.requirement("S0-75")
def test_the_state_accumulates():
    state = StreamState()
    for event in (
        FIRST,
        thinking("Hm."),
        text("Good "),
        text("day."),
        tool("t"),
        tool_end("t"),
        tool_end("no"),
        COMPLETE,
    ):
        state = state.after(event)

    assert state == StreamState(
        text="Good day.",
        thinking="Hm.",
        tools={"t": {"name": "search", "status": "complete", "durationMs": 40}},
        is_complete=True,
        cost_usd=0.05,
        duration_ms=1200,
    )


@pytest.mark.requirement("S0-75")
def test_an_error_is_part_of_the_state():
    state = StreamState().after(text("Half")).after(ERROR)

    assert (state.text, state.error) == ("Half", {"code": "1001", "message": "Gone", "recoverable": True})
    assert not state.is_complete


@pytest.mark.requirement("S0-75", "S0-95", "X-1")
def test_a_model_can_be_followed_without_a_machine():
    model = ScriptedModel({"replies": [{"steps": [{"thinking": "Hm."}, {"text": "Good day to you."}]}]})

    async def main():
        stream = BufferedStream(reply_events(model, Request((user("Hello"),)), request_id="r1"))
        frames = [str(state.text) async for state in stream]
        return frames, stream.state

    frames, state = run(main)
    assert (frames[-1], str(state.thinking), state.is_complete) == ("Good day to you.", "Hm.", True)
    assert len(frames) < 5


@pytest.mark.requirement("S0-65", "S0-76")
def test_a_stream_shared_by_several_requests_is_filtered():
    async def share_events():
        for event in (text("mine", requestId="r1"), text("yours", requestId="r2"), text(" too")):
            yield event

    async def main():
        stream = BufferedStream(share_events(), request_id="r1", clock=SimulatedClock())
        return [str(state.text) async for state in stream]

    assert run(main)[-1] == "mine too"


@pytest.mark.requirement("S0-B3")
def test_early_events_are_held_in_their_order():
    buffer = EventBuffer()
    for content in "abc":
        buffer.hold("r1", text(content))
    buffer.hold("r2", text("z"))

    assert [event["content"] for event in buffer.take("r1")] == ["a", "b", "c"]
    assert buffer.take("r1") == []


@pytest.mark.requirement("S0-B3")
def test_of_too_many_early_events_the_oldest_are_dropped_and_counted():
    buffer = EventBuffer(most_events=1_000, most_requests=2)
    for number in range(1_003):
        buffer.hold("r1", text(str(number)))
    held = buffer.take("r1")

    assert (len(held), held[0]["content"], buffer.dropped) == (1_000, "3", 3)


@pytest.mark.requirement("S0-B3")
def test_of_too_many_requests_the_oldest_is_dropped():
    buffer = EventBuffer(most_requests=2)
    for request in ("r1", "r2", "r3"):
        buffer.hold(request, text("x"))

    assert [len(buffer.take(request)) for request in ("r1", "r2", "r3")] == [0, 1, 1]
    assert buffer.dropped == 1


@pytest.mark.requirement("S0-75")
def test_events_that_show_nothing_make_no_frame():
    async def quiet():
        yield {"type": "REQUEST_STARTED", "requestId": "r1"}
        yield FIRST

    async def main():
        return [state async for state in BufferedStream(quiet(), clock=SimulatedClock())]

    assert run(main) == []
