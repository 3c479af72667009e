"""Pages are fetched from public addresses only, as text, within limits; a local server by explicit rule only."""

import asyncio
import gzip
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.messages import ToolCall
from antiphon.tools.addresses import ALSO_REFUSED, public_only, resolve_allowed
from antiphon.tools.errors import ToolCallError
from antiphon.tools.fetch import FetchSettings, fetch_function, fetch_text
from antiphon.tools.functions import FunctionToolbox
from tests.fixtures.mcp_tools import run


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.5.5", "192.168.1.1", "169.254.169.254", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "240.0.0.1", "100.64.0.1", "192.0.0.8", "198.18.0.1", "203.0.113.5", "192.88.99.1",
        "::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "fec0::1", "2001:db8::1", "::7f00:1", "100::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::", "2002:a00:1::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "64:ff9b:1::1",
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_is_refused(address):
    assert public_only(ip_address(address)) is not None


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_a_public_address_is_allowed(address):
    assert public_only(ip_address(address)) is None


@given(st.ip_addresses(v=4))
def test_no_private_address_hides_in_one_of_version_6(address):
    wrapped = [f"::ffff:{address}", f"64:ff9b::{address}"]

    for text in wrapped:
        assert (public_only(ip_address(text)) is None) == (public_only(address) is None)
    assert ALSO_REFUSED


async def nowhere(host, port):
    raise AssertionError("nothing may be looked up")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://x.example", "gopher://x", "javascript:alert(1)", "http://", "//x.example/",
        "x.example", "http://user:secret@x.example/", "http://x.example:99999/", "http://x.example/a b",
        "http://x.example/\r\nX: y", "http://[::1", "http://" + "a" * 70 + ".example/", "",
    ],
)  # fmt: skip
def test_what_is_no_proper_url_is_refused_before_anything_is_looked_up(url):
    with pytest.raises(ToolCallError):
        run(fetch_text(url, FetchSettings(resolve=nowhere)))


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://localhost:1/", "http://2130706433/", "http://0x7f.1/", "http://[::1]/",
        "http://0/", "http://127.1/", "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/latest/meta-data",
    ],
)  # fmt: skip
def test_an_address_of_this_machine_is_refused_however_it_is_written(url):
    """Looked up by the system, which knows every way to write it."""
    with pytest.raises(ToolCallError, match="is not allowed"):
        run(fetch_text(url, FetchSettings()))


def test_a_name_with_one_private_address_among_public_ones_is_refused():
    async def both(host, port):
        return ["8.8.8.8", "10.0.0.1"]

    with pytest.raises(ToolCallError, match=r"10\.0\.0\.1 is private"):
        run(resolve_allowed("x.example", 80, both, public_only))


def test_a_name_that_means_nothing_is_refused():
    async def nothing(host, port):
        return []

    async def unknown(host, port):
        raise OSError("no such host")

    for resolve in (nothing, unknown):
        with pytest.raises(ToolCallError, match="The host"):
            run(resolve_allowed("x.example", 80, resolve, public_only))


def local_only(address):
    return None if address.is_loopback else "not the server of this test"


def answer(body, kind="text/plain; charset=utf-8", status="200 OK", **headers):
    lines = {"content-type": kind, "content-length": str(len(body)), **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items() if value is not None)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def fetched(answers, path="/", **settings):
    """What is fetched from a server that says the given answers by path, and the requests that it saw."""
    requested_paths = []

    async def serve(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        requested_paths.append(head.decode())
        raw_response = answers.get(head.split(b" ")[1].decode())
        if raw_response is not None:
            writer.write(raw_response)
            writer.close()
        else:
            await reader.read()
            writer.close()

    async def work():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]

        async def resolve(host, _):
            return ["127.0.0.1"] if host.endswith(".example") else [host]

        chosen = FetchSettings(**{"rule": local_only, "resolve": resolve, **settings})
        async with server:
            return await fetch_text(f"http://x.example:{port}{path}", chosen)

    try:
        return run(work()), requested_paths
    except ToolCallError as refused:
        return refused, requested_paths


def body_of(text):
    return text.partition("]\n")[2]


def test_a_text_is_fetched_and_says_where_from():
    text, (request,) = fetched({"/a?b=c": answer("Grüezi".encode())}, "/a?b=c")

    assert text.startswith("[http://x.example:")
    assert body_of(text) == "Grüezi"
    assert "Host: x.example:" in request
    assert "Connection: close" in request


PAGE = b"""<!doctype html><html><head><title>A page</title><style>p{}</style><script>if (a < b) alert(1)</script></head>
<body><h1>Big</h1><p>One   two<br>three &amp; four <a href="/more">more</a> <a href="javascript:x()">no</a></p>
<ul><li>first</li><li>second</li></ul><table><tr><td>a</td><td>b</td></tr></table>
<pre>  x = 1
    y</pre><img alt="a cat"><noscript>hidden</noscript></body></html>"""


def test_a_page_is_read_as_a_person_reads_it():
    text, _ = fetched({"/": answer(PAGE, "text/html")})

    words = body_of(text)
    assert words.startswith("A page\n\n# Big\n\nOne two\nthree & four more <http://x.example:")
    assert "/more> no\n" in words
    assert "- first\n- second" in words
    assert "| a | b" in words
    assert "x = 1\n    y" in words
    assert "[a cat]" in words
    assert "alert" not in words
    assert "hidden" not in words


@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "application/octet-stream", "video/mp4"])
def test_what_is_no_text_is_refused_with_its_type(kind):
    refused, _ = fetched({"/": answer(b"\x89PNG", kind)})

    assert f"has the content type {kind}" in str(refused)


@pytest.mark.parametrize("kind", ["application/json", "application/ld+json", "text/csv", "application/atom+xml"])
def test_other_texts_are_shown_as_they_are(kind):
    text, _ = fetched({"/": answer(b'{"a": 1}', kind)})

    assert body_of(text) == '{"a": 1}'


def test_a_redirect_is_followed():
    text, requested_paths = fetched({"/": answer(b"", status="302 Found", location="/b"), "/b": answer(b"there")})

    assert body_of(text) == "there"
    assert len(requested_paths) == 2


@pytest.mark.parametrize("target", ["http://10.0.0.1/", "http://169.254.169.254/x", "http://[fe80::1]/", "//10.0.0.1/"])
def test_a_redirect_to_an_address_that_is_not_allowed_is_refused(target):
    refused, requested_paths = fetched({"/": answer(b"", status="302 Found", location=target)})

    assert "is not allowed" in str(refused)
    assert len(requested_paths) == 1


def test_a_redirect_to_another_scheme_is_refused():
    refused, _ = fetched({"/": answer(b"", status="302 Found", location="file:///etc/passwd")})

    assert "Only http and https" in str(refused)


@pytest.mark.parametrize("target", ["http://other.test/?leak", "http://page.test:81/"])
def test_a_redirect_to_another_host_or_port_is_not_followed_and_is_named(target):
    refused, requested_paths = fetched({"/": answer(b"", status="302 Found", location=target)})

    assert f"redirects to {target!r}" in str(refused)
    assert len(requested_paths) == 1


@pytest.mark.parametrize(
    ("url", "host"),
    [("https://h/a", "h"), ("https://h:8443/", "h:8443"), ("http://h/", "http://h"), ("http://h:443/", "http://h:443")],
)
def test_the_host_of_a_question_is_scheme_host_and_port(url, host):
    assess = fetch_function().assess

    assert assess is not None
    assert assess({"url": url}).network == (host,)


def test_redirects_are_bounded():
    refused, requested_paths = fetched({"/": answer(b"", status="301 Moved", location="/")}, most_redirects=3)

    assert "more than 3 redirects" in str(refused)
    assert len(requested_paths) == 4


def test_the_address_that_was_checked_is_the_one_connected_to():
    """A name that means something else at the second look is looked up once only."""
    looks = []

    async def rebinding(host, port):
        looks.append(host)
        return ["127.0.0.1"] if len(looks) == 1 else ["10.0.0.1"]

    text, _ = fetched({"/": answer(b"once")}, resolve=rebinding)

    assert body_of(text) == "once"
    assert looks == ["x.example"]


def test_a_long_text_is_cut():
    text, _ = fetched({"/": answer(b"x" * 5_000)}, most_bytes=1_000, most_characters=900)

    assert body_of(text) == "x" * 900 + "\n[truncated after 900 characters]"


def test_a_body_in_chunks_or_until_the_end_is_read():
    chunks = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"
    chunked = answer(chunks, content_length=None, **{"transfer-encoding": "chunked"}).replace(
        b"content-length: 31\r\n", b""
    )
    until_end = answer(b"to the end").replace(b"content-length: 10\r\n", b"")

    assert body_of(fetched({"/": chunked})[0]) == "hello world"
    assert body_of(fetched({"/": chunked}, most_bytes=7)[0]) == "hello w\n[truncated after 7 characters]"
    assert body_of(fetched({"/": until_end})[0]) == "to the end"


def test_a_packed_body_is_unpacked_but_a_bomb_is_not():
    packed = answer(gzip.compress(b"small"), content_encoding="gzip")
    bomb = answer(gzip.compress(b"\x41" * 50_000_000), content_encoding="gzip")

    assert body_of(fetched({"/": packed})[0]) == "small"
    assert body_of(fetched({"/": bomb}, most_bytes=10_000)[0]) == "A" * 10_000 + "\n[truncated after 10,000 characters]"
    assert "content encoding 'br'" in str(fetched({"/": answer(b"x", content_encoding="br")})[0])


@pytest.mark.parametrize(
    "raw_response",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 two OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nnot packed",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000 + b"\r\n\r\n",
    ],
)
def test_an_answer_that_is_no_http_is_refused_in_words(raw_response):
    refused, _ = fetched({"/": raw_response})

    assert isinstance(refused, ToolCallError)


def test_a_server_that_is_silent_is_given_up():
    refused, _ = fetched({}, time_ms=100)

    assert "took longer than 0.1 s" in str(refused)


def test_an_error_of_the_server_is_told():
    refused, _ = fetched({"/": answer(b"no", status="404 Not Found")})

    assert "HTTP status 404" in str(refused)


def test_a_page_that_keeps_the_parser_busy_is_given_up():
    refused, _ = fetched({"/": answer(b"<p>" * 100_000, "text/html")}, page_ms=1)

    assert "too complex" in str(refused)


def test_the_tool_gives_a_result_whatever_happens():
    box = FunctionToolbox([fetch_function()])
    result = run(box.call(ToolCall("1", "fetch_url", '{"url": "http://localhost/"}')))

    assert result.is_error
    assert "loopback" in result.parts[0].text
