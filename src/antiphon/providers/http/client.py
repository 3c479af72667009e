"""The carrier of calls over HTTP, and with `sockets.py` the only place that knows the HTTP library."""

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
from antiphon.providers.wire import Call

# Without TLS, so that there is no certificate to check.
LOOPBACK = re.compile(r"http://(127\.\d+\.\d+\.\d+|localhost|\[::1\])[:/]")
HEADERS = {"accept-encoding": "identity", "user-agent": "antiphon"}
# A pool looks at all its connections for every request, so a crowd of streams shares several pools.
STREAMS_PER_POOL = 32
IDLE_S = 60
BROKEN = (httpx2.TransportError, httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException)
LATE = (httpx2.ConnectTimeout, httpcore2.ConnectTimeout)


class HttpCarrier:
    """HTTP for all models: no retries, no redirects, as many connections as there are streams."""

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

    async def send(self, call: Call) -> "HttpAnswer":
        """Send a call and wait for the head of its answer."""
        pool = self._pool_for(call.url)
        # Silence is measured by the reader in deltas, which a read timeout cannot do.
        timeout = httpx2.Timeout(None, connect=call.connect_ms / 1000)
        auth = _KeyHeader(call.key, call.key_header, call.key_prefix) if call.key else None
        place = call.url.split("?", 1)[0]
        response: httpx2.Response | None = None
        pool.streams += 1
        try:
            request = pool.client.build_request(
                "POST", call.url, headers=dict(call.headers), content=call.body, timeout=timeout
            )
            response = await pool.client.send(request, stream=True, auth=auth, follow_redirects=False)
        except LATE as error:
            raise ProviderError(Code.TIMEOUT, f"no connection to {place} in {call.connect_ms} ms") from error
        except BROKEN as error:
            raise ProviderError(Code.NETWORK, f"no answer from {place}: {_reason(error)}") from error
        except httpx2.InvalidURL as error:
            raise ProviderError(Code.BAD_REQUEST, f"{place} is not an address: {error}") from error
        finally:
            if response is None:
                pool.streams -= 1
        return HttpAnswer(response, pool)

    async def close(self) -> None:
        """Give back all connections."""
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
        # A proxy of the environment is for the outside: a model on this machine is reached directly.
        return httpx2.AsyncClient(transport=_Direct(None), headers=HEADERS, trust_env=False)

    def _outside_client(self) -> httpx2.AsyncClient:
        # Loading the certificates takes longer than everything else here; it is done once, when first needed.
        if self._certificates is None:
            self._certificates = httpx2.create_ssl_context()
        if getproxies():
            limits = httpx2.Limits(max_connections=None, keepalive_expiry=IDLE_S)
            return httpx2.AsyncClient(verify=self._certificates, headers=HEADERS, limits=limits)
        return httpx2.AsyncClient(transport=_Direct(self._certificates), headers=HEADERS)


class HttpAnswer:
    """The answer to a call."""

    __slots__ = ("_pool", "_response", "headers", "status")

    def __init__(self, response: httpx2.Response, pool: "_Pool") -> None:
        self._response = response
        self._pool: _Pool | None = pool
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives."""
        response, socket = self._response, self._response.extensions.get("network_stream")
        # Uncompressed bytes need no decoder on their way; we ask for such, not every server listens.
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
        """End the request, whether the body was read or not."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.streams -= 1
            await self._response.aclose()


class _Pool:
    """A client with its connections, and how many streams it carries."""

    __slots__ = ("client", "streams")

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client
        self.streams = 0


class _Direct(httpx2.AsyncBaseTransport):
    """The library's connection pool on our own sockets."""

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
        answer = await self._connections.handle_async_request(inner)
        return httpx2.Response(
            status_code=answer.status, headers=answer.headers, stream=_Body(answer), extensions=answer.extensions
        )

    async def aclose(self) -> None:
        await self._connections.aclose()


class _Body(httpx2.AsyncByteStream):
    """The body of an answer, passed on."""

    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    def __aiter__(self) -> AsyncGenerator[bytes, None]:
        stream: AsyncGenerator[bytes, None] = self._answer.aiter_stream()
        return stream

    async def aclose(self) -> None:
        await self._answer.aclose()


class _KeyHeader(httpx2.Auth):
    """Puts the key into its header inside the client, so that no variable of ours ever holds it."""

    def __init__(self, key: Secret, header: str, prefix: str) -> None:
        self._key = key
        self._header = header
        self._prefix = prefix

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        request.headers[self._header] = self._prefix + self._key.reveal()
        yield request


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
