"""The guard in front of all routes: access, limits, safe headers, problems, counters and the log.

It is the last resort as well: an error that no route expects is logged, and the client gets a problem without details.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.runtime.encoding import encode
from antiphon.server.access import (
    PUBLIC,
    SAFE,
    Headers,
    authenticate,
    check_host,
    check_site,
    entry_address,
    entry_cookie,
    has_transport_policy,
    has_two_lengths,
    is_entry,
    read_target,
)
from antiphon.server.audit import AuditEvent
from antiphon.server.authentication import OPERATOR, Authentication, Caller, now_ms
from antiphon.server.callers import CALLER, FOREIGN, THREAD
from antiphon.server.context import ServerContext, note_context
from antiphon.server.error_responses import CODE, error_response
from antiphon.server.metrics import METHODS, NO_ROUTE
from antiphon.server.problems import ProblemError
from antiphon.server.windows.local import check_local_headers, is_local
from antiphon.server.windows.rules import check_remote_change
from antiphon.server.windows.threads import join_changed_thread

POLICY = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
SAFE_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
TRANSPORT_POLICY = "max-age=31536000"
REFUSALS = (401, 403, 429)
EVENTS = b"text/event-stream"
LOGGED = ("request", "method", "route", "status", "ms")
Result = TypeVar("Result")
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
        self._host = ""
        self._has_events = False
        self._is_last = False  # the connection is closed after the response
        self._is_ended = False  # the token was revoked or has expired meanwhile
        self._stack = ExitStack()

    @property
    def _caller(self) -> Caller | None:
        caller: Caller | None = self._scope.get(CALLER)
        return caller

    @property
    def _address(self) -> str:
        client = self._scope.get("client")
        return str(client[0]) if client else ""

    async def run(self) -> None:
        """Answer the request."""
        started = time.perf_counter()
        metrics = self._context.metrics
        metrics.running += 1
        try:
            with self._stack:
                await self._answer()
        finally:
            metrics.running -= 1
            self._record(time.perf_counter() - started)

    def _record(self, seconds: float) -> None:
        """Count the request, log it, and write it to the audit log if it changed something or was refused.

        Neither the query, which may hold the token, nor headers or bodies are logged; a thread only if there is one.
        """
        route = getattr(self._scope.get("route"), "path", NO_ROUTE)
        method = self._scope["method"] if self._scope["method"] in METHODS else "OTHER"
        self._context.metrics.count(method, route, self._status, seconds)
        caller = self._caller
        user = "" if caller is None else caller.user
        # Threads of users are looked up before they are named here.
        is_unknown = (caller is None or caller.is_operator) and self._status in (404, 422)
        thread = None if is_unknown else self._scope.get(THREAD)
        facts = {"request": self._id, "user": user, "thread": thread, "method": method, "route": route}
        facts |= {"status": self._status, "ms": round(seconds * 1000, 1)}
        _log.info("request %s %s %s %d %.1f ms", *(facts[name] for name in LOGGED), extra={"facts": facts})
        is_change = method not in SAFE and caller is not None
        is_refused = self._status in REFUSALS
        if self._is_worth_a_line(caller) if is_refused else is_change or self._scope.get(FOREIGN):
            token = None if caller is None else caller.token
            code = self._scope.get(CODE)
            event = (now_ms(), self._id, user, token, self._address, method, route, thread, self._status, code)
            self._context.audit.write(AuditEvent(*event))

    def _is_worth_a_line(self, caller: Caller | None) -> bool:
        """Return whether a refusal is written to the audit log; a flood of them must not replace what is in it."""
        key = "" if caller is None else caller.token_id or "operator"
        return not self._context.limits.refusals.take(key)

    async def _answer(self) -> None:
        try:
            if await self._admit():
                self._scope["antiphon.request"] = self._id
                note_context(self._scope, self._context)
                await self._app(self._scope, self._read, self._write)
                if self._is_ended and self._status and not self._is_complete:
                    await self._end()
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
        read_target(self._scope)
        headers = Headers(self._scope["headers"])
        if has_two_lengths(headers):
            self._is_last = True
            raise ProblemError("bad_header", "the request has Transfer-Encoding and Content-Length; send one of them")
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
        self._host = host
        check_site(method, path, headers, host, settings)
        if is_entry(method, path):
            cookie = self._login(lambda tokens: entry_cookie(self._scope["query_string"], host, settings, tokens))
            if cookie is not None:
                await self._redirect(cookie, entry_address(path, self._scope["query_string"]))
                return False
        if path not in PUBLIC:
            caller = self._login(lambda tokens: authenticate(headers, host, settings, tokens))
            self._scope[CALLER] = caller
            self._stack.enter_context(self._context.limits.request(caller))
            if caller.is_operator:  # to others, the threads of windows do not exist
                await check_remote_change(self._context, method, path)
        return True

    def _login(self, check: Callable[[Authentication], Result]) -> Result:
        """Return the result of a check of tokens; an address that fails too often is refused for a while."""
        try:
            return check(self._context.authentication)
        except ProblemError as problem:
            if problem.code == "unauthenticated":
                self._context.limits.count_failure(self._address)
            raise

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
            return await self._wait_for_disconnect()
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

    async def _wait_for_disconnect(self) -> Message:
        """Wait until the client goes away; the end of its token is the same for a response that is being sent."""
        caller = self._caller
        if caller is None or caller.is_operator:
            return await self._receive()
        receiving = asyncio.ensure_future(self._receive())
        ending = asyncio.ensure_future(self._context.authentication.wait_for_end(caller))
        try:
            await asyncio.wait([receiving, ending], return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending.cancel()
            if not receiving.done():
                receiving.cancel()
        if receiving.done() and not receiving.cancelled():
            return receiving.result()
        self._is_ended = True
        return {"type": "http.disconnect"}

    async def _end(self) -> None:
        """End a response whose token was revoked or has expired; a stream says so."""
        body = b""
        if self._has_events:
            problem = ProblemError("unauthenticated", "the token was revoked or has expired")
            body = f"event: problem\ndata: {encode(problem.to_json())}\n\n".encode()
        await self._write({"type": "http.response.body", "body": body, "more_body": False})

    async def _write(self, message: Message) -> None:
        """Send a part of the response; its headers are completed."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            names = {name.lower() for name, _ in message["headers"]}
            self._has_events = any(
                name.lower() == b"content-type" and value.startswith(EVENTS) for name, value in message["headers"]
            )
            safe = {**SAFE_HEADERS, "x-request-id": self._id}
            if self._is_last:
                safe["connection"] = "close"
            if has_transport_policy(self._host, self._context.settings):
                safe["strict-transport-security"] = TRANSPORT_POLICY
            more = [(name.encode(), value.encode()) for name, value in safe.items() if name.encode() not in names]
            message = {**message, "headers": [*message["headers"], *more]}
        else:
            self._is_complete = not message.get("more_body", False)
        await self._send(message)

    async def _redirect(self, cookie: str, address: str) -> None:
        """Set the cookie, and take the token out of the address."""
        await self._respond(303, b"", {"location": address, "set-cookie": cookie})

    async def _refuse(self, problem: ProblemError) -> None:
        if self._is_complete:
            return
        if self._status:  # the response has begun; it can only be cut off
            raise problem
        self._scope[CODE] = problem.code
        response = error_response(self._scope, problem)
        await self._respond(response.status, response.body, response.headers)

    async def _respond(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        raw: list[Any] = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        raw.append((b"content-length", str(len(body)).encode()))
        await self._write({"type": "http.response.start", "status": status, "headers": raw})
        body = b"" if self._scope["method"] == "HEAD" else body
        await self._send({"type": "http.response.body", "body": body})
