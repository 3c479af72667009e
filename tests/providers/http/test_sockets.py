"""Connections of our own: encrypted, refused, slow to read, slow to open."""

import asyncio
import ssl
from pathlib import Path

import httpcore2
import pytest

from antiphon.providers.base import Timeouts
from antiphon.providers.http.client import STREAMS_PER_POOL, HttpTransport
from antiphon.providers.http.sockets import MAX_BUFFERED, LoopBackend
from antiphon.providers.keys import Keys
from antiphon.providers.registry import Models
from antiphon.testing.fake_llm import FakeLLM
from tests.fixtures.providers import ENVIRONMENT, HELLO, NOWHERE, read, run, stand
from tests.providers.http.raw_server import BODY, END, FRAME, HEAD, serve

# For this machine, self-signed: nobody trusts it yet.
CERTIFICATE = Path(__file__).parent / "tls" / "cert.pem"


async def encrypted(scenario):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE, CERTIFICATE.with_name("key.pem"))
    async with FakeLLM(tls=context) as fake:
        urls = {"openai": fake.base_url("openai")}
        async with Models(keys=Keys(ENVIRONMENT, NOWHERE), base_urls=urls) as models:
            return [await read(models.open(f"openai:fake-{scenario}")) for _ in range(2)], fake.connections


@pytest.fixture
def without_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("scenario", "code"), [("ok", None), ("split", None), ("drop", "1001"), ("eof", "1004")])
def test_a_stream_can_be_encrypted(monkeypatch, without_proxies, scenario, code):
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    outcomes, connections = run(encrypted(scenario))

    assert [outcome.error and outcome.error.code.value for outcome in outcomes] == [code] * 2
    assert connections == (1 if code is None else 0)


def test_a_certificate_that_nobody_trusts_is_refused(without_proxies):
    outcomes, _ = run(encrypted("ok"))

    assert outcomes[0].error.code == "1001"
    assert "certificate" in outcomes[0].error.message.lower()


def test_a_proxy_of_the_environment_is_used_for_the_outside_only(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")

    async def work():
        async with stand() as here, Models(keys=Keys(ENVIRONMENT, NOWHERE)) as outside:
            return await read(here.open("openai", "text")), await read(outside.open("openai:gpt"))

    inside, outside = run(work())
    assert inside.error is None
    assert outside.error.code == "1001"


def test_a_connection_that_is_not_made_in_time_is_a_timeout():
    async def work():
        stuck = asyncio.get_running_loop().create_future()
        backend = LoopBackend()
        asyncio.get_running_loop().sock_connect = lambda *args: stuck
        with pytest.raises(httpcore2.ConnectTimeout):
            await backend.connect_tcp("127.0.0.1", 9, timeout=0.01)

    run(work())


def test_a_slow_connection_is_a_timeout_of_the_provider(monkeypatch):
    async def late(self, *args, **kwargs):
        raise httpcore2.ConnectTimeout("late")

    monkeypatch.setattr(LoopBackend, "connect_tcp", late)

    async def work():
        async with stand(timeouts=Timeouts(connect_ms=7)) as here:
            return await read(here.open("google", "text"))

    outcome = run(work())
    assert outcome.error.code == "1003"
    assert "7 ms" in outcome.error.message


def test_what_nobody_reads_is_not_read_ahead_for_ever():
    async def flood(reader, writer):
        try:
            for _ in range(400):
                writer.write(b"x" * 65536)
                await writer.drain()
                sent.append(65536)
        except ConnectionError:
            pass
        finally:
            writer.close()

    sent = []

    async def work():
        async with await asyncio.start_server(flood, "127.0.0.1", 0) as server:
            stream = await LoopBackend().connect_tcp("127.0.0.1", server.sockets[0].getsockname()[1])
            while not stream._inbound._paused:
                await asyncio.sleep(0)
            held = stream._inbound._size
            first = await stream.read(1000)
            remaining = await stream.read(MAX_BUFFERED * 2)
            await stream.aclose()
            return held, len(first), len(remaining)

    held, first, remaining = run(work())
    assert MAX_BUFFERED < held < MAX_BUFFERED * 3
    assert (first, first + remaining) == (1000, held)


def test_reading_and_writing_have_limits_when_asked_for():
    async def quiet(reader, writer):
        await reader.read(1)
        writer.close()

    async def work():
        async with await asyncio.start_server(quiet, "127.0.0.1", 0) as server:
            stream = await LoopBackend().connect_tcp("127.0.0.1", server.sockets[0].getsockname()[1])
            with pytest.raises(httpcore2.ReadTimeout):
                await stream.read(10, timeout=0.01)
            await stream.write(b"x", timeout=5)
            assert await stream.read(10, timeout=5) == b""
            assert stream.get_extra_info("is_readable")
            await stream.aclose()
            with pytest.raises(httpcore2.WriteError):
                await stream.write(b"x")

    run(work())


def test_a_crowd_of_streams_shares_several_pools():
    async def work():
        transport = HttpTransport()
        async with stand(transport=transport) as here:
            streams = [here.open("anthropic", "slow").stream(HELLO) for _ in range(STREAMS_PER_POOL + 1)]
            for stream in streams:
                await anext(stream)
            pools = [pool.streams for pools in transport._pools.values() for pool in pools]
            for stream in streams:
                await stream.aclose()
            return pools, [pool.streams for pools in transport._pools.values() for pool in pools]

    during, after = run(work())
    assert during == [STREAMS_PER_POOL, 1]
    assert after == [0, 0]


def test_a_call_that_fails_makes_room_in_its_pool():
    async def work():
        transport = HttpTransport()
        async with stand(transport=transport) as here:
            await read(here.models.open("openai+http://127.0.0.1:9/v1:m"))
            return [pool.streams for pools in transport._pools.values() for pool in pools]

    assert run(work()) == [0]


def asked_of(*pieces, requests=1):
    """What a model hears from a server that sends these bytes, piece by piece, as its answer to every request."""

    async def work():
        async with serve(pieces, answers=requests) as (url, counts), Models() as models:
            model = models.open(f"openai+{url}/v1:m")
            return [await read(model) for _ in range(requests)], len(counts)

    return run(work())


@pytest.mark.parametrize(
    "pieces",
    [
        (HEAD + BODY + END,),
        (HEAD, BODY, END),
        tuple(bytes([byte]) for byte in HEAD + BODY + END),
        (b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + HEAD + BODY + END,),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n", HEAD + BODY, END),
        (HEAD.replace(b"transfer-encoding: chunked", b"content-length: %d" % len(FRAME + END)) + FRAME + END,),
    ],
)
def test_the_head_may_come_in_any_way_and_the_connection_is_used_again(pieces):
    outcomes, connections = asked_of(*pieces, requests=2)

    assert [(outcome.text, outcome.error) for outcome in outcomes] == [("Hello", None)] * 2
    assert connections == 1


@pytest.mark.parametrize("body", [b"zz\r\nHello\r\n", b"2\r\nHello\r\n", BODY[:20]])
def test_a_body_whose_chunks_are_wrong_or_cut_is_a_broken_connection(body):
    [outcome], _ = asked_of(HEAD + body)

    assert outcome.error.code == "1001"
    assert "the connection broke" in outcome.error.message
