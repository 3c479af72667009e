"""Proxies and certificates: used as the environment says, and an error at once where that cannot work."""

import asyncio
import ssl
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from antiphon.providers.keys import Keys
from antiphon.providers.registry import Models
from antiphon.testing.fake_llm import FakeLLM
from tests.fixtures.providers import ENVIRONMENT, NOWHERE, read, run
from tests.providers.http.raw_server import BODY, END, HEAD, read_request

TLS = Path(__file__).parent / "tls"
OUTSIDE = "https://model.invalid"


@pytest.fixture(autouse=True)
def without_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def ask(url, requests=1):
    async with Models(keys=Keys(ENVIRONMENT, NOWHERE), base_urls={"openai": url}) as models:
        outcomes = [await read(models.open("openai:fake-text")) for _ in range(requests)]
    return outcomes[-1]


def server_context(certificate):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS / certificate, TLS / "key.pem")
    return context


@asynccontextmanager
async def encrypted(certificate="cert.pem"):
    async with FakeLLM(tls=server_context(certificate)) as fake:
        yield fake.base_url("openai")


@asynccontextmanager
async def tunnel(answer=b"HTTP/1.1 200 OK\r\n\r\n", tls=None):
    """Run an HTTP proxy; gives its port and the heads of its requests."""
    heads = []

    async def pump(reader, writer):
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def serve(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        heads.append(head.decode())
        writer.write(answer)
        if not answer.startswith(b"HTTP/1.1 200"):
            writer.close()
            return
        host, _, port = heads[-1].split()[1].rpartition(":")
        target_reader, target_writer = await asyncio.open_connection(host, int(port))
        await asyncio.gather(pump(reader, target_writer), pump(target_reader, writer))

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls) as server:
        yield server.sockets[0].getsockname()[1], heads


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_requests_go_through_a_tunnel_and_share_it(monkeypatch, scheme):
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "cert.pem"))

    async def work():
        tls = server_context("cert.pem") if scheme == "https" else None
        async with encrypted() as url, tunnel(tls=tls) as (port, heads):
            monkeypatch.setenv("HTTPS_PROXY", f"{scheme}://user:p%40ss@127.0.0.1:{port}")
            return await ask(url, requests=3), heads

    outcome, heads = run(work())
    assert outcome.error is None
    assert len(heads) == 1
    assert heads[0].startswith("CONNECT 127.0.0.1:")
    assert "Proxy-Authorization: Basic dXNlcjpwQHNz" in heads[0]


def test_requests_without_encryption_are_sent_to_the_proxy(monkeypatch):
    lines = []

    async def answer(reader, writer):
        lines.append((await reader.readline()).decode())
        await read_request(reader)
        writer.write(HEAD + BODY + END)
        writer.close()

    async def work():
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            monkeypatch.setenv("http_proxy", f"127.0.0.1:{server.sockets[0].getsockname()[1]}")
            return await ask("http://model.invalid/v1")

    assert run(work()).text == "Hello"
    assert lines == ["POST http://model.invalid/v1/chat/completions HTTP/1.1\r\n"]


def test_hosts_can_be_excepted_from_the_proxy(monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "cert.pem"))
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "example.com, 127.0.0.1")

    async def work():
        async with encrypted() as url:
            return await ask(url)

    assert run(work()).error is None


@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "socks4", "ftp"])
def test_another_kind_of_proxy_is_refused(monkeypatch, scheme):
    monkeypatch.setenv("ALL_PROXY", f"{scheme}://user:secret@proxy.invalid:1080")

    error = run(ask(OUTSIDE)).error
    assert (error.code, error.recoverable) == ("9005", False)
    assert f"{scheme}://proxy.invalid:1080 is not supported: use an HTTP proxy" in error.message
    assert "secret" not in error.message


@pytest.mark.parametrize(
    "proxy", ["http://", "http://user:secret@host:port", "http://[::1", "http://:secret@:0", "//", "a" * 64]
)
def test_a_proxy_that_is_no_address_is_refused(monkeypatch, proxy):
    monkeypatch.setenv("HTTPS_PROXY", proxy)

    error = run(ask(OUTSIDE)).error
    assert (error.code, error.recoverable) == ("9005", False)
    assert error.message == "the proxy for https is not an address like http://host:port"


@pytest.mark.parametrize("url", ["https://[::1", "https://", "ftp://host", "https://host:port"])
def test_a_url_that_is_none_is_refused(url):
    error = run(ask(url)).error
    assert error.code == "9001"
    assert "is not a valid URL" in error.message


def test_a_proxy_that_does_not_answer_is_not_worth_another_try(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@127.0.0.1:9")

    error = run(ask(OUTSIDE)).error
    assert (error.code, error.recoverable) == ("1001", False)
    assert error.message.startswith("no connection by the proxy http://127.0.0.1:9: ")


@pytest.mark.parametrize(
    ("status", "recoverable"), [("407 Who are you?", False), ("403 No", False), ("502 Lost", True)]
)
def test_a_proxy_may_refuse(monkeypatch, status, recoverable):
    async def work():
        async with tunnel(f"HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n".encode()) as (port, _):
            monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
            return await ask(OUTSIDE)

    error = run(work()).error
    assert (error.code, error.recoverable) == ("1001", recoverable)
    assert status in error.message


def test_a_missing_file_of_certificates_is_named(monkeypatch, tmp_path):
    path = str(tmp_path / "missing.pem")
    monkeypatch.setenv("SSL_CERT_FILE", path)

    error = run(ask(OUTSIDE)).error
    assert (error.code, error.recoverable) == ("9005", False)
    assert error.message == f"the certificates of SSL_CERT_FILE ({path!r}) cannot be loaded: No such file or directory"


def test_a_file_without_certificates_is_named(monkeypatch, tmp_path):
    path = tmp_path / "empty.pem"
    path.write_text("no certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))

    error = run(ask(OUTSIDE)).error
    assert (error.code, error.recoverable) == ("9005", False)
    assert str(path) in error.message


@pytest.mark.parametrize(
    ("served", "trusted", "reason"),
    [
        ("expired.pem", "expired.pem", "certificate has expired"),
        ("cert.pem", None, "self-signed certificate"),
    ],
)
def test_a_certificate_that_is_not_valid_is_not_worth_another_try(monkeypatch, served, trusted, reason):
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(TLS / trusted))

    async def work():
        async with encrypted(served) as url:
            return await ask(url)

    error = run(work()).error
    assert (error.code, error.recoverable) == ("1001", False)
    assert error.message.startswith("no secure connection to https://127.0.0.1:")
    assert reason in error.message


def test_a_server_without_encryption_is_not_worth_another_try():
    async def answer(reader, writer):
        await reader.read(65536)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def work():
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            return await ask(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")

    error = run(work()).error
    assert (error.code, error.recoverable) == ("1001", False)
