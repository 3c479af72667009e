"""The application of FastAPI: all routes with their contracts, and the OpenAPI document. It is slow to load."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import cache, wraps
from typing import Annotated, Any, get_args, get_origin

import fastapi
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from antiphon.server.access import PUBLIC
from antiphon.server.context import ServerContext
from antiphon.server.contracts import JSON, SCHEMAS, Contract, Routes, check_scope, checks, schemas
from antiphon.server.error_responses import answer_error
from antiphon.server.parameters import Depends, Header, Parameter, Path, Query
from antiphon.server.problems import BY_CLASS, MEDIA_TYPE, ProblemError
from antiphon.server.replies import ProblemReply
from antiphon.server.routes import MODULES, SERVER_ROUTES, THREAD_ROUTES, load_routes
from antiphon.version import VERSION

# FastAPI would record queries, which hold words that are searched for, and texts of errors.
NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
SOURCES: dict[type[Parameter], Callable[..., Any]] = {
    Query: fastapi.Query,
    Header: fastapi.Header,
    Path: fastapi.Path,
}


def build_api(
    context: ServerContext, contracts: Callable[[], list[tuple[str, Contract]]], *, is_complete: bool
) -> ASGIApp:
    """Return the application; an incomplete one loads routes that windows seldom use with their first request."""
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
        api.include_router(build_router(routes))
    for kind in {ProblemError, HTTPException, *(kind for kind, _ in BY_CLASS), Exception}:
        api.add_exception_handler(kind, answer_error)
    api.add_exception_handler(RequestValidationError, _answer_wrong_value)
    loader = RouteLoader(api)
    api.openapi = lambda: _document(api, loader)  # type: ignore[method-assign]
    if is_complete:
        loader.load_all()
    return loader


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
            self._api.include_router(build_router(load_routes(module)))
            self._missing.remove(module)


def build_router(routes: Routes) -> APIRouter:
    """Return the routes of a module, as FastAPI has them."""
    router = APIRouter(tags=[routes.tag])
    for contract, endpoint in routes.endpoints:
        router.add_api_route(
            contract.path,
            adapt(endpoint),
            methods=[contract.method],
            summary=contract.about,
            status_code=contract.status,
            response_model=None,
            response_class=Response,
            responses=_responses(contract),
            openapi_extra=_request_body(contract),
            operation_id=endpoint.__name__,
            dependencies=[fastapi.Depends(_require_scope(contract))],
        )
    return router


@cache
def adapt(function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Return a function whose parameters are those of FastAPI."""

    @wraps(function)
    async def call(**arguments: Any) -> Any:
        return await function(**arguments)

    signature = inspect.signature(function)
    parameters = [each.replace(annotation=_adapt_annotation(each.annotation)) for each in signature.parameters.values()]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return call


def _adapt_annotation(annotation: Any) -> Any:
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, source = get_args(annotation)
    if isinstance(source, Depends):
        return Annotated[kind, fastapi.Depends(adapt(source.function))]
    limits = {name: value for name, value in asdict(source).items() if value is not None}
    return Annotated[kind, SOURCES[type(source)](**limits)]


def _require_scope(contract: Contract) -> Callable[[Request], Awaitable[None]]:
    """Return a function that raises `ProblemError` if the token of a request lacks the scope of a route."""

    async def check(request: Request) -> None:
        check_scope(contract, request.scope)

    return check


def _reference(kind: type) -> dict[str, str]:
    return {"$ref": SCHEMAS + checks.shape(kind).name}


def _request_body(contract: Contract) -> dict[str, Any] | None:
    if not contract.takes:
        return None
    references = [_reference(kind) for kind in contract.takes]
    schema = references[0] if len(references) == 1 else {"oneOf": references}
    is_required = any(field.is_required for kind in contract.takes for field in checks.shape(kind).fields.values())
    return {"requestBody": {"required": is_required, "content": {JSON: {"schema": schema}}}}


def _responses(contract: Contract) -> dict[int | str, dict[str, Any]]:
    schema = {} if contract.gives is None else {"schema": _reference(contract.gives)}
    content = {media_type: schema if media_type == JSON else {} for media_type in contract.media_types}
    success = {"description": contract.about, **({} if contract.status == 204 else {"content": content})}
    problems = {MEDIA_TYPE if kind is ProblemReply else JSON: {"schema": _reference(kind)} for kind in contract.errors}
    problem = {"description": "A problem", "content": problems}
    statuses = [contract.status] if contract.repeated is None else [contract.status, contract.repeated]
    return {**dict.fromkeys(statuses, success), "default": problem}


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


async def _answer_wrong_value(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return await answer_error(request, ProblemError("bad_query", f"{place}: {first['msg']}", path=place))
