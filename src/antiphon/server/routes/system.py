"""Routes of the server itself: health, readiness, metrics, and the page of routes."""

from starlette.requests import Request
from starlette.responses import Response

from antiphon.runtime.errors import RuntimeFault
from antiphon.server.context import Context
from antiphon.server.contracts import Routes, json_response
from antiphon.server.metrics import MEDIA_TYPE
from antiphon.server.pages import STYLE, routes_page
from antiphon.server.problems import ProblemError
from antiphon.server.replies import Health
from antiphon.version import VERSION

routes = Routes("system")
HTML = "text/html; charset=utf-8"


@routes.add("GET", "/healthz", "Whether the process answers; needs no token", gives=Health, scope="none")
async def read_health() -> Response:
    """It answers as long as the event loop runs."""
    return json_response({"status": "ok"})


@routes.add("GET", "/readyz", "Whether the store takes requests; needs no token", gives=Health, scope="none")
async def read_readiness(context: Context) -> Response:
    """The problem is `stopping` while the server stops, and `store_failed` if the store does not answer."""
    if context.app.runtime.loop.is_stopping:
        raise ProblemError("stopping", "the server is stopping")
    try:
        await context.app.runtime.roots(limit=1)
    except RuntimeFault as error:
        raise ProblemError("store_failed", "the store does not answer; see the log of the server") from error
    return json_response({"status": "ready", "version": VERSION})


@routes.add("GET", "/metrics", "Counters for Prometheus", media_types=("text/plain",), scope="admin")
async def read_metrics(context: Context) -> Response:
    """Requests by route and status, streams and their frames."""
    return Response(context.metrics.to_text().encode(), media_type=MEDIA_TYPE)


@routes.add("GET", "/docs", "All routes on a page", media_types=("text/html",))
async def read_routes_page(request: Request) -> Response:
    """Without scripts, and with nothing from another host."""
    return Response(routes_page(request.app.state.contracts()).encode(), media_type=HTML)


@routes.add("GET", "/style.css", "The style of the pages", media_types=("text/css",))
async def read_style() -> Response:
    """Used by the pages of the server."""
    return Response(STYLE.encode(), media_type="text/css; charset=utf-8")


@routes.add("GET", "/openapi.json", "The OpenAPI document")
async def read_openapi(request: Request) -> Response:
    """All routes, with the types of their bodies."""
    return json_response(request.app.openapi())
