"""Requests to a server: repeated while it is away, as long as nothing can be done twice.

1. A request that only reads, or has an idempotency key, is repeated when the connection is lost before the answer.
2. Any other is repeated only if the server did not get it; else `ServerUnreachable` says that it may have been done.
3. A server that stops or has too much to do is asked again later.
4. A connection that was lost is renewed before the next request: a window of this machine starts its server again.
"""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpcore2  # noqa: F401 (loaded by the first client otherwise, when its server may be waiting already)
import httpx2

from antiphon.client.errors import ServerUnreachable
from antiphon.client.problems import error_of, read_problem
from antiphon.threads.errors import Refused

Params = Mapping[str, str | int]
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 2.0
TIMEOUT = httpx2.Timeout(60, connect=5)
# Nothing of a request was sent.
UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
# Problems that come before anything is done.
LATER = ("too_busy", "stopping")
SCHEMES = ("http://", "https://")


class HttpConnection:
    """Connections to one server, by HTTP or by a Unix socket."""

    def __init__(
        self,
        address: str | Path,
        token: str | None = None,
        *,
        patience_s: float = 30.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.address = str(address).rstrip("/")
        self.patience_s = patience_s
        self.is_local = not self.address.startswith(SCHEMES)
        authorization = {} if token is None else {"authorization": f"Bearer {token}"}
        if token is not None and not self.is_local:
            _check_secrecy(self.address)
        self._http = httpx2.AsyncClient(
            base_url="http://local" if self.is_local else self.address,
            headers={**(headers or {}), **authorization},
            # A socket has no TLS, and the certificates that it would be verified with are slow to load.
            transport=httpx2.AsyncHTTPTransport(uds=self.address, verify=False) if self.is_local else None,
            # A token for this machine is not shown to a proxy.
            trust_env=self.address.startswith("https://"),
            timeout=TIMEOUT,
            limits=httpx2.Limits(max_connections=None),
        )
        self.is_lost = False
        self.renew: Callable[[], Awaitable[None]] | None = None
        self._renewing: asyncio.Task[Any] | None = None
        self._renewal = asyncio.Lock()

    def __repr__(self) -> str:
        return f"HttpConnection({self.address!r})"

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def prepare(self) -> None:
        """Renew a connection that was lost, if it can be; requests that are made for that are sent as they are."""
        if self.renew is None or not self.is_lost or self._renewing is asyncio.current_task():
            return
        async with self._renewal:
            if not self.is_lost:  # another task has renewed it
                return
            self._renewing = asyncio.current_task()
            try:
                await self.renew()
            finally:
                self._renewing = None

    async def get(self, path: str, params: Params | None = None, **names: Any) -> Any:
        """Read something, and return its JSON."""
        return (await self.request("GET", path, params=params, **names)).json()

    async def post(self, path: str, body: Any = None, *, key: str | None = None, **names: Any) -> Any:
        """Send a body as JSON, and return the JSON of the answer; with a key, it is repeated if it has to be."""
        return (await self.request("POST", path, body={} if body is None else body, key=key, **names)).json()

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: Any = None,
        key: str | None = None,
        is_repeatable: bool = False,
        patience_s: float | None = None,
        **names: Any,
    ) -> httpx2.Response:
        """Send a request, and return its response; raise the error for a problem, with the `names` of the caller."""
        headers = {"idempotency-key": key} if key is not None else {}
        if body is not None:
            headers["content-type"] = "application/json"
        may_repeat = is_repeatable or method == "GET" or key is not None
        pause = Pause(self.patience_s if patience_s is None else patience_s)
        while True:
            await self.prepare()
            try:
                response = await self._http.request(method, path, params=params, content=_encode(body), headers=headers)
            except httpx2.TransportError as error:
                self.is_lost = True
                is_unsent = isinstance(error, UNSENT)
                if not (may_repeat or is_unsent):
                    raise ServerUnreachable(self.address, _reason(error), may_be_done=True) from error
                await pause.wait(self.address, error)
                continue
            if response.status_code < 400:
                return response
            problem = read_problem(response.status_code, response.content)
            problem_error = error_of(problem, **names)
            if problem["code"] not in LATER or not may_repeat:
                raise problem_error
            await pause.wait(self.address, problem_error)

    @asynccontextmanager
    async def stream(
        self, path: str, params: Params | None = None, last_id: str = "", *, body: Any = None, **names: Any
    ) -> AsyncIterator[httpx2.Response]:
        """Open a stream of events after the one of an id, or one for a body; raise the error for a problem."""
        headers = {"accept": "text/event-stream", **({"last-event-id": last_id} if last_id else {})}
        if body is not None:
            headers["content-type"] = "application/json"
        method = "GET" if body is None else "POST"
        content = _encode(body)
        async with self._http.stream(method, path, params=params, content=content, headers=headers) as response:
            if response.status_code >= 400:
                problem = read_problem(response.status_code, await response.aread())
                if problem["code"] in LATER:
                    raise httpx2.RemoteProtocolError(str(problem.get("detail")))
                raise error_of(problem, **names)
            yield response


class Pause:
    """Pauses before further attempts, each longer than the one before, until the patience is over."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._due = time.monotonic() + patience_s
        self._pause_s = FIRST_PAUSE_S
        self.longest_s = LONGEST_PAUSE_S

    def reset(self) -> None:
        """Begin anew, after the server has answered."""
        self._due = time.monotonic() + self._patience_s
        self._pause_s = FIRST_PAUSE_S

    def extend(self) -> None:
        """Let the next pause be the longest, because the server asked for it."""
        self._pause_s = self.longest_s

    async def wait(self, address: str, error: Exception) -> None:
        """Wait before the next attempt; raise `ServerUnreachable` if the patience is over."""
        pause_s = min(self._pause_s, self.longest_s) * random.uniform(0.5, 1)
        if time.monotonic() + pause_s > self._due:
            raise ServerUnreachable(address, _reason(error)) from error
        await asyncio.sleep(pause_s)
        self._pause_s *= 2


def thread_path(id: str, *parts: str) -> str:
    """Return the path of a thread, or of something in it."""
    return "/".join(["/threads", quote(id, safe=""), *parts])


def actor_path(id: str, *parts: str) -> str:
    """Return the path of a tree of actors, or of something in it."""
    return "/".join(["/actors", quote(id, safe=""), *parts])


def _encode(body: Any) -> bytes | None:
    if body is None:
        return None
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise Refused(f"it cannot be sent to a server, because it is not JSON: {error}") from error


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _check_secrecy(address: str) -> None:
    """Raise `Refused` for an address to which a token would be sent in the clear."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme == "https" or host == "localhost" or host.endswith(".localhost") or _is_loopback(host):
        return
    raise Refused(f"{address} is another machine, and http:// would show the token to the network; use https://")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
