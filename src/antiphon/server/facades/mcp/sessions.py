"""Sessions over streamable HTTP: the MCP library behind the guard, until the server stops.

1. The guard has checked token, host, origin and length before a message gets here.
2. A session belongs to the user who has begun it; others do not find it.
3. Clients of 2025 have sessions, which end when they say so or after half an idle hour; those of 2026 have none.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, AuthorizationContext
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import EventStore, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from antiphon.server.callers import CALLER, THREAD, Caller
from antiphon.server.context import ServerContext
from antiphon.server.facades.mcp.protocol import build_protocol
from antiphon.server.facades.mcp.stored_events import StoredEvents
from antiphon.server.problems import ProblemError
from antiphon.server.streams import MEDIA_TYPE

MOST_SESSIONS = 1_000
MOST_USER_SESSIONS = 100
OPERATOR_NAME = "operator"
IDLE_S = 30 * 60.0
STREAM = MEDIA_TYPE.encode()


class SessionManager(StreamableHTTPSessionManager):
    """Sessions, each with stored messages of its own."""

    @property
    def event_store(self) -> EventStore:
        """A new store: the library reads this once for each session."""
        return StoredEvents()

    @event_store.setter
    def event_store(self, store: EventStore | None) -> None:
        assert store is None

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        """Register a session; None if there are too many, or if one user has so many that few are left for others."""
        is_user = requestor is not None and requestor["client_id"] != OPERATOR_NAME
        count = sum(owner == requestor for owner in self._session_owners.values())
        return None if is_user and count >= MOST_USER_SESSIONS else super()._admit_session(requestor)


class McpSessions:
    """The sessions of a server, from their first message until the server stops."""

    def __init__(self, context: ServerContext) -> None:
        self.context = context
        self._manager = SessionManager(
            build_protocol(context),
            retry_interval=context.settings.retry_ms,
            session_idle_timeout=IDLE_S,
            max_request_body_size=context.settings.most_body_bytes,
            max_sessions=MOST_SESSIONS,
        )
        self._is_open = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        # The library is entered and left by the same task.
        async with self._manager.run():
            self._is_open.set()
            await self.context.closing.wait()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request by the library."""
        await self._is_open.wait()
        caller: Caller = scope[CALLER]
        name = f"user {caller.user}" if caller.user else OPERATOR_NAME
        user = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        inner = {**scope, "user": user}
        try:
            await self._manager.handle_request(inner, receive, send)
        finally:
            if THREAD in inner:  # for the audit log
                scope[THREAD] = inner[THREAD]


class McpResponse(Response):
    """Response of the library to a request whose body was read; it ends with the server at the latest."""

    def __init__(self, sessions: McpSessions, body: bytes) -> None:
        super().__init__()
        self._sessions = sessions
        self._context = sessions.context
        self._request_body = body
        self._is_body_sent = False
        self._is_started = False
        self._is_stream = False
        self._is_complete = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and its response back."""
        exchange = asyncio.create_task(self._sessions.handle(scope, self._reader(receive), self._writer(send)))
        closing = asyncio.create_task(self._context.closing.wait())
        try:
            await asyncio.wait([exchange, closing], return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _end(closing)
            is_cut = await _end(exchange)
            self._context.metrics.streams -= self._is_stream
        if not is_cut:
            exchange.result()
        elif not self._is_started:
            raise ProblemError("stopping", "the server is stopping; try again later")
        elif not self._is_complete:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _reader(self, receive: Receive) -> Callable[[], Awaitable[Message]]:
        async def read() -> Message:
            if self._is_body_sent:
                return await receive()
            self._is_body_sent = True
            return {"type": "http.request", "body": self._request_body, "more_body": False}

        return read

    def _writer(self, send: Send) -> Callable[[Message], Awaitable[None]]:
        metrics = self._context.metrics

        async def write(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._is_started = True
                self._is_stream = any(
                    name.lower() == b"content-type" and value.startswith(STREAM) for name, value in message["headers"]
                )
                metrics.streams += self._is_stream
            else:
                self._is_complete = not message.get("more_body", False)
                metrics.frames += self._is_stream
            await send(message)

        return write


async def _end(task: asyncio.Task[object]) -> bool:
    """Cancel a task that is not done, and return whether that was needed."""
    if task.done():
        return False
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task
    return True
