"""The carrier of calls over HTTP, and the only place that knows the HTTP library."""

import re
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Self

import httpx2

from antiphon.providers.errors import Code, ProviderError
from antiphon.providers.keys import Secret
from antiphon.providers.wire import Call

# Without TLS, so that there is no certificate to check.
LOOPBACK = re.compile(r"http://(127\.\d+\.\d+\.\d+|localhost|\[::1\])[:/]")
LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=60)
HEADERS = {"accept-encoding": "identity", "user-agent": "antiphon"}


class HttpCarrier:
    """One shared client for all models: no retries, no redirects, as many connections as there are streams."""

    __slots__ = ("_clients",)

    def __init__(self) -> None:
        self._clients: dict[bool, httpx2.AsyncClient] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def send(self, call: Call) -> "HttpAnswer":
        """Send a call and wait for the head of its answer."""
        client = self._client_for(call.url)
        # Silence is measured by the reader in deltas, which a read timeout cannot do.
        timeout = httpx2.Timeout(None, connect=call.connect_ms / 1000)
        request = client.build_request("POST", call.url, headers=dict(call.headers), content=call.body, timeout=timeout)
        auth = _KeyHeader(call.key, call.key_header, call.key_prefix) if call.key else None
        try:
            return HttpAnswer(await client.send(request, stream=True, auth=auth, follow_redirects=False))
        except httpx2.ConnectTimeout as error:
            raise ProviderError(Code.TIMEOUT, f"no connection to {_place(call)} in {call.connect_ms} ms") from error
        except httpx2.TransportError as error:
            raise ProviderError(Code.NETWORK, f"no answer from {_place(call)}: {_reason(error)}") from error
        except httpx2.InvalidURL as error:
            raise ProviderError(Code.BAD_REQUEST, f"{_place(call)} is not an address: {error}") from error

    async def close(self) -> None:
        """Give back all connections."""
        while self._clients:
            await self._clients.popitem()[1].aclose()

    def _client_for(self, url: str) -> httpx2.AsyncClient:
        # A proxy of the environment is for the outside: a model on this machine is reached directly.
        local = LOOPBACK.match(url) is not None
        if local not in self._clients:
            # Opened when first needed: loading the certificates takes longer than everything else here.
            self._clients[local] = httpx2.AsyncClient(
                limits=LIMITS, headers=HEADERS, trust_env=not local, verify=not local
            )
        return self._clients[local]


class HttpAnswer:
    """The answer to a call."""

    __slots__ = ("_response", "headers", "status")

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives."""
        response = self._response
        # Uncompressed bytes need no decoder on their way; we ask for such, not every server listens.
        body = response.aiter_bytes() if "content-encoding" in self.headers else response.aiter_raw()
        try:
            async with aclosing(body):
                async for chunk in body:
                    yield chunk
        except httpx2.TransportError as error:
            raise ProviderError(Code.NETWORK, f"the connection broke: {_reason(error)}") from error
        except httpx2.DecodingError as error:
            raise ProviderError(Code.MALFORMED, f"the body cannot be decompressed: {_reason(error)}") from error

    async def close(self) -> None:
        """End the request, whether the body was read or not."""
        await self._response.aclose()


class _KeyHeader(httpx2.Auth):
    """Puts the key into its header inside the client, so that no variable of ours ever holds it."""

    def __init__(self, key: Secret, header: str, prefix: str) -> None:
        self._key = key
        self._header = header
        self._prefix = prefix

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        request.headers[self._header] = self._prefix + self._key.reveal()
        yield request


def _place(call: Call) -> str:
    return call.url.split("?", 1)[0]


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
