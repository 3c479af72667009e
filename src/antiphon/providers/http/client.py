"""The HTTP transport; with `sockets.py` the only module that uses the HTTP library."""

import re
import ssl
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Self
from urllib.request import getproxies

import httpcore2
import httpx2

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.http.sockets import LoopBackend, LoopStream
from antiphon.providers.keys import Secret
from antiphon.providers.wire import HttpRequest

# Plain HTTP only, so that there is no certificate to check.
LOOPBACK = re.compile(r"http://(127\.\d+\.\d+\.\d+|localhost|\[::1\])[:/]")
HEADERS = {"accept-encoding": "identity", "user-agent": "antiphon"}
# A pool scans all its connections for every request, so many streams are spread over several pools.
STREAMS_PER_POOL = 32
IDLE_S = 60
BROKEN = (httpx2.TransportError, httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException)
LATE = (httpx2.ConnectTimeout, httpcore2.ConnectTimeout)


class HttpTransport:
    """Transport over HTTP: no retries, no redirects, one connection per stream."""

    __slots__ = ("_certificates", "_local", "_outside")

    def __init__(self) -> None:
        self._local: list[_Pool] = []
        self._outside: list[_Pool] = []
        self._certificates: ssl.SSLContext | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def send(self, request: HttpRequest) -> "ClientResponse":
        """Send a request and wait for the head of the response."""
        pool = self._pool_for(request.url)
        # No read timeout: the reader measures the time between deltas instead.
        timeout = httpx2.Timeout(None, connect=request.connect_ms / 1000)
        auth = _KeyHeader(request.key, request.key_header, request.key_prefix) if request.key else None
        url = request.url.split("?", 1)[0]
        response: httpx2.Response | None = None
        pool.streams += 1
        try:
            http_request = pool.client.build_request(
                "POST", request.url, headers=dict(request.headers), content=request.body, timeout=timeout
            )
            response = await pool.client.send(http_request, stream=True, auth=auth, follow_redirects=False)
        except LATE as error:
            raise ProviderError(Code.TIMEOUT, f"no connection to {url} within {request.connect_ms} ms") from error
        except BROKEN as error:
            raise ProviderError(Code.NETWORK, f"no response from {url}: {_reason(error)}") from error
        except httpx2.InvalidURL as error:
            raise ProviderError(Code.BAD_REQUEST, f"{url} is not a valid URL: {error}") from error
        finally:
            if response is None:
                pool.streams -= 1
        return ClientResponse(response, pool)

    async def close(self) -> None:
        """Close all connections."""
        for pools in (self._local, self._outside):
            while pools:
                await pools.pop().client.aclose()

    def _pool_for(self, url: str) -> "_Pool":
        local = LOOPBACK.match(url) is not None
        pools = self._local if local else self._outside
        for pool in pools:
            if pool.streams < STREAMS_PER_POOL:
                return pool
        pools.append(_Pool(self._local_client() if local else self._outside_client()))
        return pools[-1]

    def _local_client(self) -> httpx2.AsyncClient:
        # Models on this machine are reached directly, without the proxy of the environment.
        return httpx2.AsyncClient(transport=_Direct(None), headers=HEADERS, trust_env=False)

    def _outside_client(self) -> httpx2.AsyncClient:
        # Loading the certificates is slow, so it is done once, when first needed.
        if self._certificates is None:
            self._certificates = httpx2.create_ssl_context()
        if getproxies():
            limits = httpx2.Limits(max_connections=None, keepalive_expiry=IDLE_S)
            return httpx2.AsyncClient(verify=self._certificates, headers=HEADERS, limits=limits)
        return httpx2.AsyncClient(transport=_Direct(self._certificates), headers=HEADERS)


class ClientResponse:
    """Response of the HTTP client."""

    __slots__ = ("_pool", "_response", "headers", "status")

    def __init__(self, response: httpx2.Response, pool: "_Pool") -> None:
        self._response = response
        self._pool: _Pool | None = pool
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Yield the body as it arrives."""
        response = self._response
        socket = response.extensions.get("network_stream")
        # We request an uncompressed body, but not every server complies.
        is_plain = "content-encoding" not in self.headers
        body = response.aiter_raw() if is_plain else response.aiter_bytes()
        try:
            if isinstance(socket, LoopStream) and is_plain and self.headers.get("transfer-encoding") == "chunked":
                async with aclosing(socket.data()) as data:
                    async for chunk in data:
                        yield chunk
            async with aclosing(body):
                async for chunk in body:
                    yield chunk
        except BROKEN as error:
            raise ProviderError(Code.NETWORK, f"the connection broke: {_reason(error)}") from error
        except httpx2.DecodingError as error:
            raise ProviderError(Code.MALFORMED, f"the body cannot be decompressed: {_reason(error)}") from error

    async def close(self) -> None:
        """End the request, even if the body was not read."""
        pool = self._pool
        self._pool = None
        if pool is not None:
            pool.streams -= 1
            await self._response.aclose()


class _Pool:
    """Client with its connections, and the number of its open streams."""

    __slots__ = ("client", "streams")

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client
        self.streams = 0


class _Direct(httpx2.AsyncBaseTransport):
    """Connection pool of the library on our own sockets."""

    def __init__(self, certificates: ssl.SSLContext | None) -> None:
        self._connections = httpcore2.AsyncConnectionPool(
            ssl_context=certificates, max_connections=None, keepalive_expiry=IDLE_S, network_backend=LoopBackend()
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        address = request.url
        inner = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=address.raw_scheme, host=address.raw_host, port=address.port, target=address.raw_path
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        response = await self._connections.handle_async_request(inner)
        return httpx2.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._connections.aclose()


class _Body(httpx2.AsyncByteStream):
    """Body of a response, passed through."""

    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    def __aiter__(self) -> AsyncGenerator[bytes, None]:
        stream: AsyncGenerator[bytes, None] = self._response.aiter_stream()
        return stream

    async def aclose(self) -> None:
        await self._response.aclose()


class _KeyHeader(httpx2.Auth):
    """Adds the key to its header inside the client, so that none of our variables holds it."""

    def __init__(self, key: Secret, header: str, prefix: str) -> None:
        self._key = key
        self._header = header
        self._prefix = prefix

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        request.headers[self._header] = self._prefix + self._key.reveal()
        yield request


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
