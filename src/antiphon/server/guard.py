"""The guard in front of all routes: access, limits, safe headers, problems, counters and the log.

It is the last resort as well: an error that no route expects is logged, and the client gets a problem without details.
"""

import asyncio
import logging
import secrets
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.runtime.encoding import encode
from antiphon.server.access import PUBLIC, SAFE, Headers, check_host, check_site, check_token, entry_cookie
from antiphon.server.callers import CALLER, OPERATOR
from antiphon.server.context import ServerContext
from antiphon.server.local import check_local_headers, is_local
from antiphon.server.local_rules import check_remote_change
from antiphon.server.metrics import NO_ROUTE
from antiphon.server.problems import MEDIA_TYPE, ProblemError
from antiphon.server.window_threads import join_changed_thread

POLICY = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
SAFE_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
ENTRY = "/"
# After these the rest of the body is not read, so the connection is of no more use.
CLOSING_CODES = ("too_large", "slow_body")
_log = logging.getLogger("antiphon.server")


class Guard:
    """Middleware that every request passes."""

    def __init__(self, app: ASGIApp, context: ServerContext) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, refuse a WebSocket, and pass everything else on."""
        if scope["type"] == "http":
            await _Exchange(self._app, self._context, scope, receive, send).run()
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._app(scope, receive, send)


class _Exchange:
    """One request and its response."""

    def __init__(self, app: ASGIApp, context: ServerContext, scope: Scope, receive: Receive, send: Send) -> None:
        self._app = app
        self._context = context
        self._scope = scope
        self._receive = receive
        self._send = send
        self._id = secrets.token_hex(8)
        self._status = 0
        self._is_complete = False
        self._body_bytes = 0
        self._body_due: float | None = None
        self._is_body_read = False

    async def run(self) -> None:
        """Answer the request."""
        started = time.perf_counter()
        metrics = self._context.metrics
        metrics.running += 1
        try:
            await self._answer()
        finally:
            metrics.running -= 1
            seconds = time.perf_counter() - started
            route = getattr(self._scope.get("route"), "path", NO_ROUTE)
            metrics.count(self._scope["method"], route, self._status, seconds)
            # Neither the query, which may hold the token, nor headers or bodies are logged.
            _log.info(
                "request %s %s %s %d %.1f ms", self._id, self._scope["method"], route, self._status, seconds * 1000
            )

    async def _answer(self) -> None:
        try:
            if await self._admit():
                self._scope["antiphon.request"] = self._id
                await self._app(self._scope, self._read, self._write)
        except ProblemError as problem:
            await self._refuse(problem)
        except asyncio.CancelledError:
            raise
        except Exception:
            _log.exception("request %s failed", self._id)
            await self._refuse(ProblemError("internal", "see the log of the server", requestId=self._id))

    async def _admit(self) -> bool:
        """Return whether a request is passed to its route; raise `ProblemError` if it is refused."""
        settings = self._context.settings
        metrics = self._context.metrics
        headers = Headers(self._scope["headers"])
        path: str = self._scope["path"]
        method: str = self._scope["method"]
        if is_local(self._scope):
            check_local_headers(headers)
            self._scope[CALLER] = OPERATOR
            await join_changed_thread(self._context, method, path)
        elif not await self._admit_remote(method, path, headers):
            return False
        if metrics.running - metrics.streams > settings.most_requests or metrics.streams >= settings.most_streams:
            raise ProblemError("too_busy", "too many requests at once; try again later")
        if self._context.closing.is_set():
            raise ProblemError("stopping", "the server is stopping; try again later")
        self._check_length(method, headers)
        return True

    async def _admit_remote(self, method: str, path: str, headers: Headers) -> bool:
        """Return whether a request over TCP is passed to its route, by its host, its site and its token."""
        settings = self._context.settings
        host = check_host(headers, settings)
        check_site(method, path, headers, host, settings)
        if path == ENTRY and method == "GET":
            cookie = entry_cookie(self._scope["query_string"], host, settings)
            if cookie is not None:
                await self._redirect(cookie)
                return False
        if path not in PUBLIC:
            check_token(headers, host, settings)
            self._scope[CALLER] = OPERATOR
            await check_remote_change(self._context, self._scope[CALLER], method, path)
        return True

    def _check_length(self, method: str, headers: Headers) -> None:
        length = headers.get("content-length")
        if length is not None and length.isdecimal() and int(length) > self._context.settings.most_body_bytes:
            raise self._too_large()
        if method in SAFE and (headers.get("transfer-encoding") or length not in (None, "0")):
            raise ProblemError("bad_header", f"a {method} request has no body")

    def _too_large(self) -> ProblemError:
        return ProblemError("too_large", f"at most {self._context.settings.most_body_bytes:,} bytes are read")

    async def _read(self) -> Message:
        """Receive a part of the body, within the limits of size and time."""
        if self._is_body_read:
            return await self._receive()
        loop = asyncio.get_running_loop()
        self._body_due = self._body_due or loop.time() + self._context.settings.body_s
        try:
            async with asyncio.timeout_at(self._body_due):
                message = await self._receive()
        except TimeoutError:
            seconds = self._context.settings.body_s
            raise ProblemError("slow_body", f"the body did not arrive within {seconds:g} seconds") from None
        self._body_bytes += len(message.get("body", b""))
        if self._body_bytes > self._context.settings.most_body_bytes:
            raise self._too_large()
        self._is_body_read = not message.get("more_body", False)
        return message

    async def _write(self, message: Message) -> None:
        """Send a part of the response; its headers are completed."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            names = {name.lower() for name, _ in message["headers"]}
            safe = {**SAFE_HEADERS, "x-request-id": self._id}
            more = [(name.encode(), value.encode()) for name, value in safe.items() if name.encode() not in names]
            message = {**message, "headers": [*message["headers"], *more]}
        else:
            self._is_complete = not message.get("more_body", False)
        await self._send(message)

    async def _redirect(self, cookie: str) -> None:
        """Set the cookie, and take the token out of the address."""
        await self._respond(303, b"", {"location": ENTRY, "set-cookie": cookie})

    async def _refuse(self, problem: ProblemError) -> None:
        if self._is_complete:
            return
        if self._status:  # the response has begun; it can only be cut off
            raise problem
        headers = {"content-type": MEDIA_TYPE}
        if problem.code == "unauthenticated":
            headers["www-authenticate"] = 'Bearer realm="antiphon"'
        if problem.code in CLOSING_CODES:
            headers["connection"] = "close"
        if problem.kind.status == 503:
            headers["retry-after"] = "1"
        await self._respond(problem.kind.status, encode(problem.to_json()).encode("utf-8"), headers)

    async def _respond(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        raw: list[Any] = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        raw.append((b"content-length", str(len(body)).encode()))
        await self._write({"type": "http.response.start", "status": status, "headers": raw})
        body = b"" if self._scope["method"] == "HEAD" else body
        await self._send({"type": "http.response.body", "body": body})
