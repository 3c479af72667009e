"""The transport gives what plain httpx2 gives, for any raw response, cut anywhere."""

import random
import ssl
from itertools import pairwise

import httpx2
import pytest

from antiphon.providers.errors import ProviderError
from antiphon.providers.http.client import HttpTransport
from tests.fixtures.providers import run
from tests.providers.http.raw_server import BODY, END, HEAD, request_to, serve

CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"

HEADS = [
    HEAD + BODY + END,
    HEAD.replace(b"\r\n", b"\n") + BODY + END,
    b"HTTP/1.1 200 OK\ncontent-length: 5\n\nhello",
    CHUNKED + b"x: " + b"y" * 70_000 + b"\r\n\r\n" + BODY + END,
    CHUNKED + b"x: " + b"y" * 200_000 + b"\r\n\r\n" + BODY + END,
    CHUNKED + b"".join(b"h%d: v\r\n" % n for n in range(500)) + b"\r\n" + BODY + END,
    b"HTTP/1.0 100 Continue\r\n\r\n" + HEAD + BODY + END,
    b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + BODY + END,
    b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + PLAIN,
    b"HTTP/1.1 102 Processing\r\n\r\n" * 5 + PLAIN,
    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nmore",
    b"HTTP/2 200\r\n\r\n",
    b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80\x00\x04\x00\x01\x00\x00\x00\x05\x00\xff\xff\xff",
    b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello",
    b"HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok",
    b"HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\nok",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n",
    b"HTTP/1.1 500 Broken\r\ncontent-length: 5\r\n\r\nhello",
    b"HTTP/1.1 099 Low\r\n\r\n",
    b"HTTP/1.1 1000 High\r\n\r\n",
    b"HTTP/1.1 abc\r\n\r\n",
    b"\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    b"\r\n\r\n\r\n" + PLAIN,
    b"ICY 200 OK\r\n\r\n",
    b"<html>hello</html>",
    b"\xff\xfe\xfd" * 100,
    b"",
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-le",
    b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\ncontent-length: five\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\ncontent-length: 5, 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n" + BODY + END,
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n" + BODY + END,
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: CHUNKED\r\n\r\n" + BODY + END,
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: identity\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nno colon\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nname : value\r\ncontent-length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nname: folded\r\n value\r\ncontent-length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nname: nul\x00\r\ncontent-length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nname: \xe4\xf6\xfc\r\ncontent-length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\rcontent-length: 5\r\r\r\rhello",
]
BODIES = [
    END,
    BODY,
    BODY[:20],
    BODY * 200 + END,
    b"0" * 16 + b"5\r\nhello\r\n" + END,
    b"0" * 40 + b"5\r\nhello\r\n" + END,
    b"5;extension=1\r\nhello\r\n" + END,
    b"5;" + b"x" * 5_000 + b"\r\nhello\r\n" + END,
    b"5;" + b"x" * 200_000 + b"\r\nhello\r\n" + END,
    b"5 \r\nhello\r\n" + END,
    b"5\t;a\r\nhello\r\n" + END,
    b" 5\r\nhello\r\n" + END,
    b"5\nhello\n0\n\n",
    b"5\r\nhello\n" + END,
    b"5\r\nhello" + END,
    b"5\r\nhelloworld\r\n" + END,
    b"zz\r\nhello\r\n" + END,
    b"-5\r\nhello\r\n" + END,
    b"0x5\r\nhello\r\n" + END,
    b"FFFFFFFFFFFFFFFFF\r\nhello",
    b"fffffffffffffff\r\nhello",
    b"\r\n" + BODY + END,
    BODY + b"0\r\nx: y\r\n\r\n",
    BODY + b"0\r\nx: y\n\n",
    BODY + b"0\r\n\n",
    BODY + b"0\r\n",
    BODY + b"0",
    BODY + b"000\r\n\r\n",
    BODY + b"0;x\r\n\r\n",
    b"4\r\n\r\n\r\n\r\n" + END,
    b"8\r\n\r\n\r\n\r\n\r\n\r\n" + END,
    b"A\r\n0123456789\r\n" + END,
    b"a\r\n0123456789\r\n" + END,
]
# Bytes after a complete response.
LEFTOVERS = [b"\r\n", b"x", b"garbage\r\n\r\n", PLAIN, HEAD + BODY + END, b"\x00" * 100, END]


def random_response(number: int) -> bytes:
    """Return a response with random chunks, sometimes with one byte changed."""
    choose = random.Random(number)
    body = b""
    for _ in range(choose.randrange(1, 6)):
        data = choose.randbytes(choose.choice((1, 3, 200, 3_000)))
        size = b"%x" % len(data)
        body += choose.choice((size, size.upper(), b"00" + size, size + b";a=b")) + b"\r\n" + data + b"\r\n"
    response = bytearray(CHUNKED + b"\r\n" + body + END)
    if choose.random() < 0.5:
        response[choose.randrange(len(response))] = choose.randrange(256)
    return bytes(response)


RESPONSES = HEADS + [HEAD + body for body in BODIES] + [random_response(number) for number in range(40)]


def cut(response: bytes, seed: int) -> list[bytes]:
    """Cut a response at random places, and next to every line end of a short one."""
    choose = random.Random(seed)
    places = {choose.randrange(len(response) + 1) for _ in range(choose.randrange(8))}
    if len(response) < 400 and seed % 2:
        places |= {place for place in range(len(response)) if response[place : place + 1] in b"\r\n"}
    edges = sorted({0, *places, len(response)})
    return [response[start:end] for start, end in pairwise(edges)]


async def by_transport(url):
    async with HttpTransport() as transport:
        try:
            response = await transport.send(request_to(url))
            headers = list(response.headers.items())
            body = b"".join([chunk async for chunk in response.chunks()])
        except ProviderError:
            return "failed"
        await response.close()
        return response.status, headers, body


async def by_httpx2(url):
    # The certificates are not needed, and slow to load.
    options = {"trust_env": False, "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
    async with httpx2.AsyncClient(headers={"accept-encoding": "identity"}, **options) as client:
        try:
            async with client.stream("POST", url, content=b"{}", timeout=20) as response:
                is_plain = "content-encoding" not in response.headers
                body = b"".join(
                    [chunk async for chunk in (response.aiter_raw() if is_plain else response.aiter_bytes())]
                )
                return response.status_code, list(response.headers.items()), body
        except httpx2.HTTPError:
            return "failed"


def test_there_are_enough_responses():
    assert len(RESPONSES) >= 100
    assert len(set(RESPONSES)) == len(RESPONSES)


@pytest.mark.parametrize("seed", range(2))
def test_every_response_is_read_as_plain_httpx2_reads_it(seed):
    async def work():
        differences = []
        for number, response in enumerate(RESPONSES):
            pieces = cut(response, 1000 * seed + number)
            async with serve(pieces) as (url, _):
                ours = await by_transport(url)
                theirs = await by_httpx2(url)
            if ours != theirs:
                differences.append((response[:200], ours, theirs))
        return differences

    assert run(work()) == []


@pytest.mark.parametrize("leftovers", LEFTOVERS, ids=range(len(LEFTOVERS)))
@pytest.mark.parametrize(
    "response",
    [PLAIN, HEAD + BODY + END, b"HTTP/1.1 204 No Content\r\n\r\n"],
    ids=["length", "chunks", "no body"],
)
@pytest.mark.parametrize("cuts", range(3))
def test_bytes_after_a_response_do_not_reach_the_next_one(response, leftovers, cuts):
    answers = run(three_answers(cut(response + leftovers, cuts)))

    assert answers == [run(three_answers([response]))[0]] * 3


async def three_answers(pieces):
    answers = []
    async with serve(pieces, answers=3) as (url, _), HttpTransport() as transport:
        for _ in range(3):
            response = await transport.send(request_to(url))
            answers.append((response.status, b"".join([chunk async for chunk in response.chunks()])))
            await response.close()
    return answers
