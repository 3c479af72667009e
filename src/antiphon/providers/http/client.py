"""The HTTP transport; with `sockets.py` the only module that uses the HTTP library."""

import ssl
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Self
from urllib.parse import SplitResult, unquote

import httpcore2
import httpx2

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.http.log_filter import install_filter
from antiphon.providers.http.routes import certificate_problem, find_proxy, format_proxy, is_loopback
from antiphon.providers.http.sockets import LoopBackend, LoopStream, StaleConnection, TlsError
from antiphon.providers.keys import Secret
from antiphon.providers.wire import HttpRequest

HEADERS = {"accept-encoding": "identity", "user-agent": "antiphon"}
# A pool scans all its connections for every request, so many streams are spread over several pools.
STREAMS_PER_POOL = 32
IDLE_S = 60
LOG_FILTER = install_filter()
BROKEN = (
    httpx2.TransportError,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.TimeoutException,
)


class HttpTransport:
    """Transport over HTTP: no redirects, one connection per stream.

    Only a request that a reused connection did not deliver is sent again, once.
    """

    __slots__ = ("_certificates", "_pools")

    def __init__(self) -> None:
        # By the proxy, and by whether certificates are needed.
        self._pools: dict[tuple[SplitResult | None, bool], list[_Pool]] = {}
        self._certificates: ssl.SSLContext | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def send(self, request: HttpRequest) -> "ClientResponse":
        """Send a request and wait for the head of the response."""
        proxy = find_proxy(request.url)
        pool = self._pool_for(request.url, proxy)
        # No read timeout: the reader measures the time between deltas instead.
        timeout = httpx2.Timeout(None, connect=request.connect_ms / 1000)
        auth = None
        if request.key is not None:
            auth = _KeyHeader(request.key, request.key_header, request.key_prefix)
            LOG_FILTER.add(request.key)
        response: httpx2.Response | None = None
        pool.streams += 1
        try:
            http_request = pool.client.build_request(
                "POST", request.url, headers=dict(request.headers), content=request.body, timeout=timeout
            )
            response = await pool.client.send(http_request, stream=True, auth=auth, follow_redirects=False)
        except BROKEN as error:
            raise _send_error(error, request, proxy) from error
        except (httpx2.InvalidURL, httpcore2.UnsupportedProtocol) as error:
            raise ProviderError(Code.BAD_REQUEST, f"{_address(request)} is not a valid URL: {error}") from error
        finally:
            if response is None:
                pool.streams -= 1
        return ClientResponse(response, pool)

    async def close(self) -> None:
        """Close all connections."""
        while self._pools:
            for pool in self._pools.popitem()[1]:
                await pool.client.aclose()

    async def close_idle(self, url: str) -> None:
        """Close the connections to the server of a URL that no request uses."""
        for pools in self._pools.values():
            for pool in pools:
                await pool.connections.close_idle(url)

    def _pool_for(self, url: str, proxy: SplitResult | None) -> "_Pool":
        is_local = is_loopback(url)
        pools = self._pools.setdefault((proxy, is_local), [])
        for pool in pools:
            if pool.streams < STREAMS_PER_POOL:
                return pool
        # Loading the certificates is slow, so it is done once, when first needed.
        if self._certificates is None and not is_local:
            self._certificates = _load_certificates()
        transport = _PoolTransport(self._certificates, proxy)
        # The route is chosen here: the client must not look for proxies itself.
        client = httpx2.AsyncClient(transport=transport, headers=HEADERS, trust_env=False)
        pools.append(_Pool(client, transport))
        return pools[-1]


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
        # We request an uncompressed body, but not every server complies.
        is_plain = "content-encoding" not in self.headers
        body = self._response.aiter_raw() if is_plain else self._response.aiter_bytes()
        try:
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

    __slots__ = ("client", "connections", "streams")

    def __init__(self, client: httpx2.AsyncClient, connections: "_PoolTransport") -> None:
        self.client = client
        self.connections = connections
        self.streams = 0


class _PoolTransport(httpx2.AsyncBaseTransport):
    """Connection pool of the library on our own sockets."""

    def __init__(self, certificates: ssl.SSLContext | None, proxy: SplitResult | None) -> None:
        self._connections = httpcore2.AsyncConnectionPool(
            ssl_context=certificates,
            proxy=None if proxy is None else _library_proxy(proxy, certificates),
            max_connections=None,
            keepalive_expiry=IDLE_S,
            network_backend=LoopBackend(),
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
        try:
            response = await self._connections.handle_async_request(inner)
        except StaleConnection:
            await self._close_idle(inner.url.origin)
            response = await self._connections.handle_async_request(inner)
        headers = httpx2.Headers(response.headers)
        stream = response.extensions.get("network_stream")
        if isinstance(stream, LoopStream):
            is_chunked = headers.get("transfer-encoding", "").lower() == "chunked"
            stream.begin_body(None if is_chunked else _body_length(headers), is_chunked=is_chunked)
        return httpx2.Response(
            status_code=response.status, headers=headers, stream=_Body(response), extensions=response.extensions
        )

    async def aclose(self) -> None:
        await self._connections.aclose()

    async def close_idle(self, url: str) -> None:
        """Close the idle connections to the server of a URL; what is no URL has none."""
        try:
            address = httpx2.URL(url)
        except httpx2.InvalidURL:
            return
        target = httpcore2.URL(scheme=address.raw_scheme, host=address.raw_host, port=address.port, target=b"/")
        await self._close_idle(target.origin)

    async def _close_idle(self, origin: httpcore2.Origin) -> None:
        # The other idle connections to this server may have been closed as well.
        for connection in self._connections.connections:
            if connection.is_idle() and connection.can_handle_request(origin):
                await connection.aclose()


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


def _load_certificates() -> ssl.SSLContext:
    try:
        return httpx2.create_ssl_context()
    except OSError as error:  # an `ssl.SSLError` is one, too
        raise certificate_problem(error) from error


def _library_proxy(proxy: SplitResult, certificates: ssl.SSLContext | None) -> httpcore2.Proxy:
    host = (proxy.hostname or "").encode("idna")
    url = httpcore2.URL(scheme=proxy.scheme, host=host, port=proxy.port, target="/")
    user = unquote(proxy.username or "").encode()
    auth = (user, unquote(proxy.password or "").encode()) if user else None
    return httpcore2.Proxy(url, auth, ssl_context=certificates if proxy.scheme == "https" else None)


def _body_length(headers: httpx2.Headers) -> int | None:
    length = headers.get("content-length", "")
    return int(length) if length.isdecimal() else None


def _send_error(error: Exception, request: HttpRequest, proxy: SplitResult | None) -> ProviderError:
    """Return the error for a request without a response."""
    url = _address(request)
    if isinstance(error, httpcore2.ConnectTimeout):
        return ProviderError(Code.TIMEOUT, f"no connection to {url} within {request.connect_ms} ms")
    if isinstance(error, TlsError):
        # Another attempt would get the same certificate.
        return ProviderError(Code.NETWORK, f"no secure connection to {url}: {_reason(error)}", recoverable=False)
    if proxy is not None and isinstance(error, httpcore2.ConnectError | httpcore2.ProxyError):
        # A proxy answers with a status of 5xx if it does not reach the server, which may pass.
        is_passing = isinstance(error, httpcore2.ProxyError) and str(error).startswith("5")
        reason = f"no connection by the proxy {format_proxy(proxy)}: {_reason(error)}"
        return ProviderError(Code.NETWORK, reason, recoverable=is_passing)
    return ProviderError(Code.NETWORK, f"no response from {url}: {_reason(error)}")


def _address(request: HttpRequest) -> str:
    return request.url.split("?", 1)[0]


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
