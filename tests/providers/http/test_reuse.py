"""A connection is used again only if the server has not closed it, and a request that it lost is sent once more."""

from contextlib import asynccontextmanager

import pytest

from antiphon.providers.http.sockets import LoopBackend
from antiphon.providers.registry import Models
from tests.fixtures.providers import FORMATS, read, run, stand
from tests.providers.http.raw_server import BODY, END, HEAD, thread_server

ANSWER = HEAD + BODY + END


async def ask(server, requests, before_next=lambda: None):
    outcomes = []
    async with Models() as models:
        model = models.open(f"openai+{server.url}/v1:m")
        for _ in range(requests):
            outcomes.append(await read(model))
            before_next()
    return [outcome.error or outcome.text for outcome in outcomes]


@pytest.mark.parametrize("format", FORMATS)
def test_a_server_that_closes_after_each_reply_can_be_asked_back_to_back(format):
    async def work():
        async with stand() as here:
            provider = here.open(format, "close")
            return [await read(provider) for _ in range(60)]

    assert [outcome.error for outcome in run(work())] == [None] * 60


def test_a_server_that_closes_while_the_event_loop_is_busy_can_be_asked_again():
    with thread_server([ANSWER], [ANSWER]) as server:
        answers = run(ask(server, 2, server.closed.wait))

    assert answers == ["Hello", "Hello"]
    assert server.requests == [0, 1]


@asynccontextmanager
async def connected(server):
    stream = await LoopBackend().connect_tcp("127.0.0.1", int(server.url.rpartition(":")[2]))
    await stream.write(b"POST / HTTP/1.1\r\n\r\n{}")
    yield stream
    await stream.write(b"{}")
    await stream.aclose()


def test_the_end_of_an_idle_connection_is_seen_before_the_event_loop_reads_it():
    async def work():
        async with connected(server) as stream:
            received = b""
            while not received.endswith(END):
                received += await stream.read(65536)
            server.closed.wait()
            return stream.get_extra_info("is_readable")

    with thread_server([ANSWER]) as server:
        assert run(work())


@pytest.mark.parametrize(("head", "is_reused"), [(b"HTTP/1.1 200 OK\r\n\r\n", True), (b"HTTP/1.1 200 OK\n\nhe", False)])
def test_a_connection_is_not_reused_if_a_part_of_the_body_may_have_come_with_the_head(head, is_reused):
    async def work():
        async with connected(server) as stream:
            await stream.read(len(head))
            stream.begin_body(5, is_chunked=False)
            await stream.read(5)
            return not stream.get_extra_info("is_readable")

    with thread_server([head + b"lloHT", None]) as server:
        assert run(work()) == is_reused


def test_a_request_that_a_used_connection_loses_is_sent_once_more():
    with thread_server([ANSWER, None], [ANSWER]) as server:
        answers = run(ask(server, 2))

    assert answers == ["Hello", "Hello"]
    assert server.requests == [0, 0, 1]


def test_a_request_is_not_sent_a_third_time():
    with thread_server([ANSWER, None], [None]) as server:
        answers = run(ask(server, 2))

    assert answers[0] == "Hello"
    assert answers[1].code == "1001"
    assert server.requests == [0, 0, 1]


def test_a_request_on_a_new_connection_is_not_repeated():
    with thread_server([None]) as server:
        [error] = run(ask(server, 1))

    assert error.code == "1001"
    assert server.requests == [0]


def test_a_request_is_not_repeated_after_the_first_byte_of_its_answer():
    with thread_server([ANSWER, b"H"]) as server:
        answers = run(ask(server, 2))

    assert answers[1].code == "1001"
    assert server.requests == [0, 0]
