"""Streams that are cut continue without a gap and without a repeat; requests that are cut are taken once."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.client import Client, ServerUnreachable
from antiphon.client.feed import EventDecoder, ServerEvent
from antiphon.threads import Activity
from tests.fixtures.cutting_proxy import cutting_proxy
from tests.fixtures.server import CANARY, LiveServer, live_server

SIZES = st.one_of(st.integers(1, 600), st.integers(600, 5000))  # in the head, or in the body of an answer
FRAMES = b": hello\n\nretry: 20\n\nid: a:1\ndata: {}\n\nid: a:2\nevent: moved\ndata: \xc3\xa4\n\ndata: cut"
EVENTS = [ServerEvent("", "{}", "a:1"), ServerEvent("moved", "ä", "a:2")]


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with live_server(retry_ms=20) as running:
        yield running


@pytest.fixture(scope="module")
def thread(server: LiveServer) -> str:
    with server.client() as client:
        return client.talked()


@asynccontextmanager
async def open_lazily(address: str, **options: Any) -> AsyncIterator[Client]:
    """Open a client without asking the server whether it is there."""
    client = Client(address, CANARY, **options)
    try:
        yield client
    finally:
        await client.connection.close()


@given(st.lists(st.integers(1, len(FRAMES) - 1), max_size=6).map(sorted))
def test_events_do_not_depend_on_how_the_bytes_are_split(places: list[int]) -> None:
    decoder = EventDecoder()

    parts = [FRAMES[start:end] for start, end in zip([0, *places], [*places, len(FRAMES)], strict=True)]

    assert [event for part in parts for event in decoder.feed(part)] == EVENTS
    assert (decoder.last_id, decoder.retry_ms) == ("a:2", 20)


@settings(max_examples=12)
@given(cuts=st.lists(SIZES, max_size=5))
@pytest.mark.requirement("X-15")
def test_a_followed_thread_has_no_gap_and_no_repeat_wherever_it_is_cut(
    server: LiveServer, thread: str, cuts: list[int]
) -> None:
    expected, end = server.call(lambda app: app.threads.history(thread))

    async def follow() -> list[Activity]:
        async with cutting_proxy(server.port, cuts) as proxy, open_lazily(proxy.address) as client:
            activities = []
            async for activity in client.threads.follow(thread):
                activities.append(activity)
                if activity.cursor == end:
                    break
            return activities

    assert asyncio.run(follow()) == expected


@settings(max_examples=8)
@given(cuts=st.lists(SIZES, max_size=5), after=st.integers(0, 5))
def test_steps_stay_whole_wherever_a_stream_is_cut(
    server: LiveServer, thread: str, cuts: list[int], after: int
) -> None:
    expected = [
        activity for activity in server.call(lambda app: app.threads.history(thread))[0] if activity.seq > after
    ]

    async def follow() -> list[list[Activity]]:
        async with cutting_proxy(server.port, cuts) as proxy, open_lazily(proxy.address) as client:
            steps = []
            async for step in client.threads.steps(thread, after):
                steps.append(step)
                if step[-1] == expected[-1]:
                    break
            return steps

    steps = asyncio.run(follow())
    assert [activity for step in steps for activity in step] == expected
    assert [step[0].seq for step in steps] == sorted({activity.seq for activity in expected})


@settings(max_examples=8)
@given(cuts=st.lists(SIZES, max_size=4))
def test_the_status_of_an_idle_thread_arrives_wherever_it_is_cut(
    server: LiveServer, thread: str, cuts: list[int]
) -> None:
    async def follow() -> tuple[int, str | None]:
        async with cutting_proxy(server.port, cuts) as proxy, open_lazily(proxy.address) as client:
            idle = client.threads.until_idle(thread)
            return len([activity async for activity in idle]), idle.status

    expected = len(server.call(lambda app: app.threads.history(thread))[0])
    assert asyncio.run(follow()) == (expected, "completed")


@settings(max_examples=8)
@given(cuts=st.lists(st.integers(1, 900), min_size=1, max_size=3))
def test_a_message_whose_answer_is_cut_is_taken_once(server: LiveServer, cuts: list[int]) -> None:
    async def talk() -> tuple[str, int]:
        async with cutting_proxy(server.port, cuts) as proxy, open_lazily(proxy.address) as client:
            thread = await client.threads.create("chat", model="scripted:demo")
            await client.threads.say(thread, "Hello", on_busy="reject")
            messages = (await client.threads.read(thread)).content["messages"]
            return thread, len([message for message in messages.values() if message["role"] == "user"])

    before = server.call(lambda app: app.library.latest(1000))
    thread, messages = asyncio.run(talk())

    assert messages == 1
    after = server.call(lambda app: app.library.latest(1000))
    assert [view.id for view in after if view.id not in {view.id for view in before}] == [thread]


def test_an_action_that_may_have_been_done_is_not_repeated(server: LiveServer) -> None:
    with server.client() as other:
        thread = other.talked()

    async def delete() -> Any:
        async with cutting_proxy(server.port, [10]) as proxy, open_lazily(proxy.address) as client:
            await client.threads.delete(thread)

    with pytest.raises(ServerUnreachable, match="it may have been done") as error:
        asyncio.run(delete())
    assert error.value.may_be_done


def test_a_server_that_stays_away_is_given_up(server: LiveServer, thread: str) -> None:
    async def follow() -> None:
        async with cutting_proxy(server.port, [2000]) as proxy, open_lazily(proxy.address, patience_s=0.2) as client:
            activities = client.threads.follow(thread)
            await anext(activities)
            proxy.port = 9
            async for _ in activities:
                pass

    with pytest.raises(ServerUnreachable, match="check the address"):
        asyncio.run(follow())
