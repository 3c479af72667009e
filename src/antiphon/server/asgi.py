"""The ASGI application of a server: all routes behind the guard."""

from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from antiphon.app import App
from antiphon.server.access import PUBLIC
from antiphon.server.context import ServerContext
from antiphon.server.contracts import Contract, schemas
from antiphon.server.error_responses import error_response
from antiphon.server.guard import CODE, Guard
from antiphon.server.problems import BY_CLASS, ProblemError, problem_of
from antiphon.server.routes import MODULES, SERVER_ROUTES, THREAD_ROUTES, all_routes, load_routes
from antiphon.server.settings import ServerSettings
from antiphon.server.tracing import Tracing
from antiphon.server.windows.local import LocalServer
from antiphon.version import VERSION

BY_STATUS = {404: "unknown_route", 405: "wrong_method"}
# FastAPI would record queries, which hold words that are searched for, and texts of errors.
NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
# Problems that say what the thread takes instead.
WITH_EVENTS = ("busy", "refused", "unknown_request", "wrong_kind", "not_taken")


def contracts() -> list[tuple[str, Contract]]:
    """Return the contracts of all routes, each with its tag."""
    return [(str(routes.router.tags[0]), contract) for routes in all_routes() for contract in routes.contracts]


def build_asgi(app: App, settings: ServerSettings, local: LocalServer | None = None) -> tuple[ASGIApp, ServerContext]:
    """Return the ASGI application for an app, which the caller opens and closes, and its context."""
    context = ServerContext(app, settings, local)
    api = FastAPI(
        title="Antiphon",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
    )
    api.state.context = context
    api.state.contracts = contracts
    for routes in (*THREAD_ROUTES, *SERVER_ROUTES):
        api.include_router(routes.router)
    for kind in {ProblemError, HTTPException, RequestValidationError, *(kind for kind, _ in BY_CLASS), Exception}:
        api.add_exception_handler(kind, _answer_error)
    loader = RouteLoader(api)
    api.openapi = lambda: _document(api, loader)  # type: ignore[method-assign]
    if local is None or local.mode != "local":
        loader.load_all()
    return Tracing(Guard(loader, context)), context


class RouteLoader:
    """Application that loads routes when the first request for them comes."""

    def __init__(self, api: FastAPI) -> None:
        self._api = api
        self._missing = list(MODULES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if self._missing and scope["type"] == "http":
            first = scope["path"].split("/", 2)[1]
            self._load([module for module in self._missing if first in MODULES[module]])
        await self._api(scope, receive, send)

    def load_all(self) -> None:
        """Load all routes."""
        self._load(list(self._missing))

    def _load(self, modules: list[str]) -> None:
        for module in modules:
            self._api.include_router(load_routes(module).router)
            self._missing.remove(module)


def _document(api: FastAPI, loader: RouteLoader) -> dict[str, Any]:
    if api.openapi_schema is None:
        loader.load_all()
        document = get_openapi(title=api.title, version=api.version, routes=api.routes)
        document.setdefault("components", {}).setdefault("schemas", {}).update(schemas())
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
        for path in PUBLIC:
            for operation in document["paths"][path].values():
                operation["security"] = []
        api.openapi_schema = document
    return api.openapi_schema


async def _answer_error(request: Request, error: Exception) -> Response:
    problem = _problem(error)
    if problem.code in WITH_EVENTS and "can" not in problem.more:
        await _add_events(request, problem)
    request.scope[CODE] = problem.code
    response = error_response(request.scope, problem)
    return Response(response.body, response.status, response.headers)


def _problem(error: Exception) -> ProblemError:
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return ProblemError("bad_query", f"{place}: {first['msg']}", path=place)
    if isinstance(error, HTTPException):
        allow = (error.headers or {}).get("Allow") or ""
        code = BY_STATUS.get(error.status_code, "bad_query")
        more: dict[str, Any] = {"allow": sorted(allow.replace(" ", "").split(","))} if allow else {}
        return ProblemError(code, str(error.detail), **more)
    return problem_of(error) or ProblemError("internal", "see the log of the server")


async def _add_events(request: Request, problem: ProblemError) -> None:
    """Add the events that the thread takes now to a problem."""
    context: ServerContext = request.app.state.context
    try:
        events = await context.app.threads.can(request.path_params["id"])
    except Exception as error:  # the problem itself is what the client is to know
        if problem_of(error) is None and not isinstance(error, KeyError):
            raise
        return
    problem.more["can"] = {address: list(names) for address, names in events.items()}
