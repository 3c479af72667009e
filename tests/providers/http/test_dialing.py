"""Connections to hosts with several addresses, on the event loops of asyncio and uvloop."""

import asyncio
import socket
from contextlib import closing

import pytest
import uvloop

from antiphon.providers.http.dialing import connect_first, take_turns
from antiphon.providers.registry import Models
from antiphon.testing.fake_llm.server import FakeLLM
from tests.fixtures.providers import HELLO, read

LOOPS = (asyncio.new_event_loop, uvloop.new_event_loop)


@pytest.fixture(params=LOOPS, ids=["asyncio", "uvloop"])
def run(request):
    def run(work):
        with asyncio.Runner(loop_factory=request.param) as runner:
            return runner.run(work)

    return run


def listener():
    return socket.create_server(("127.0.0.1", 0))


def address(place):
    return socket.AF_INET, socket.IPPROTO_TCP, place


def closed_port():
    with closing(listener()) as server:
        return server.getsockname()


def test_a_model_is_asked_over_http(run):
    async def work():
        async with FakeLLM() as server, Models() as models:
            return await read(models.open(f"openai+{server.base_url('compatible')}:m-plain"), HELLO)

    assert run(work()).text


def test_the_next_address_is_tried_after_a_refusal(run):
    with closing(listener()) as server:
        addresses = [address(closed_port()), address(server.getsockname())]

        with closing(run(connect_first(addresses, 60))) as connection:
            assert connection.getpeername() == server.getsockname()


def test_the_next_address_is_tried_while_one_is_silent(run):
    with closing(listener()) as full, closing(listener()) as server:
        full.listen(0)
        with closing(socket.create_connection(full.getsockname())):  # nobody accepts it: the next one waits
            addresses = [address(full.getsockname()), address(server.getsockname())]

            with closing(run(connect_first(addresses, 0.01))) as connection:
                assert connection.getpeername() == server.getsockname()


def test_an_error_names_all_addresses_that_refused(run):
    first = closed_port()
    second = closed_port()

    with pytest.raises(OSError, match=rf"{first[1]}.*; .*{second[1]}"):
        run(connect_first([address(first), address(second)]))


def test_a_host_without_addresses_is_an_error(run):
    with pytest.raises(OSError, match="the host has no address"):
        run(connect_first([]))


def test_addresses_of_both_families_take_turns():
    families = (socket.AF_INET6, socket.AF_INET6, socket.AF_INET)

    assert [place for *_, place in take_turns((family, 6, n) for n, family in enumerate(families))] == [0, 2, 1]
