"""Requests as spans, with the names of the conventions for HTTP."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.server.metrics import METHODS
from antiphon.telemetry import OpenSpan, is_recording

REQUEST_ID = b"x-request-id"
OTHER_METHOD = "_OTHER"


class Tracing:
    """Middleware around the guard; the span of a stream ends with the stream."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and is_recording():
            await _trace(self._app, scope, receive, send)
        else:
            await self._app(scope, receive, send)


async def _trace(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    method = scope["method"] if scope["method"] in METHODS else OTHER_METHOD
    operation = OpenSpan(method, "SERVER", {"http.request.method": method})
    error: str | None = None

    async def write(message: Message) -> None:
        nonlocal error
        if message["type"] == "http.response.start":
            status: int = message["status"]
            operation.set({"http.response.status_code": status})
            error = str(status) if status >= 500 else None
            for value in (value for name, value in message["headers"] if name == REQUEST_ID):
                operation.set({"antiphon.request.id": value.decode("latin-1")})
        await send(message)

    try:
        await app(scope, receive, write)
    except BaseException as problem:
        error = type(problem).__name__
        raise
    finally:
        # The template of the route has no ids; the path of a request that reaches none is a text of the client.
        route: str | None = getattr(scope.get("route"), "path", None)
        if route is not None:
            operation.rename(f"{method} {route}")
            operation.set({"http.route": route})
        operation.end(error)
