"""Contracts of routes: what each takes and gives, for checks, the OpenAPI document and the page of routes."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from fastapi import APIRouter, Depends, Request, Response

from antiphon.chart.checks.types import TypeChecks
from antiphon.runtime.encoding import encode
from antiphon.server.authentication import Caller
from antiphon.server.json_body import is_json, parse_json
from antiphon.server.problems import MEDIA_TYPE, ProblemError
from antiphon.server.replies import ProblemReply
from antiphon.server.tokens import Scope

Endpoint = Callable[..., Awaitable[Response]]
JSON = "application/json"
SCHEMAS = "#/components/schemas/"
SAFE = ("GET", "HEAD")
CALLER = "antiphon.caller"  # key of the caller in the scope of a request
checks = TypeChecks()


class Contract(NamedTuple):
    """A route: the types of its body, of which one fits, that of its response, its status and its media types.

    A token needs its scope; `none` is a route that needs no token.
    """

    method: str
    path: str
    about: str
    takes: tuple[type, ...] = ()
    gives: type | None = None
    status: int = 200
    media_types: tuple[str, ...] = (JSON,)
    scope: Scope = "read"
    errors: tuple[type, ...] = (ProblemReply,)
    repeated: int | None = None  # the status if a request is repeated with its key, where that differs


class Routes:
    """Routes with their contracts; `errors` are the types of their errors: problems, unless they are others."""

    def __init__(self, tag: str, *, errors: tuple[type, ...] = (ProblemReply,)) -> None:
        self.router = APIRouter(tags=[tag])
        self._errors = errors
        self.contracts: list[Contract] = []

    def add(
        self,
        method: str,
        path: str,
        about: str,
        *,
        takes: type | tuple[type, ...] = (),
        gives: type | None = None,
        status: int = 200,
        media_types: tuple[str, ...] = (JSON,),
        scope: Scope | None = None,
        repeated: int | None = None,
    ) -> Callable[[Endpoint], Endpoint]:
        """Return a decorator that makes a function the endpoint of a route.

        Without `scope`, a token needs `read` for what changes nothing, and `write` for anything else.
        """
        bodies = takes if isinstance(takes, tuple) else (takes,)
        needed = scope or _scope_of(method)
        contract = Contract(method, path, about, bodies, gives, status, media_types, needed, self._errors, repeated)
        self.contracts.append(contract)

        def decorate(endpoint: Endpoint) -> Endpoint:
            self.router.add_api_route(
                path,
                endpoint,
                methods=[method],
                summary=about,
                status_code=status,
                response_model=None,
                response_class=Response,
                responses=_responses(contract),
                openapi_extra=_request_body(contract),
                operation_id=endpoint.__name__,
                dependencies=[Depends(_require_scope(contract))],
            )
            return endpoint

        return decorate


def _scope_of(method: str) -> Scope:
    return "read" if method in SAFE else "write"


def _require_scope(contract: Contract) -> Callable[[Request], Awaitable[None]]:
    """Return a function that raises `ProblemError` if the token of a request lacks the scope of a route."""

    async def check(request: Request) -> None:
        caller: Caller | None = request.scope.get(CALLER)
        if contract.scope != "none" and (caller is None or not caller.has_scope(contract.scope)):
            scope = "none" if caller is None else caller.scope
            detail = f"{contract.method} {contract.path} needs a token of the scope {contract.scope}; yours has {scope}"
            raise ProblemError("insufficient_scope", detail)

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


def schemas() -> dict[str, Any]:
    """Return the JSON Schemas of all declared types, by their names."""
    return {shape.name: _with_components(shape.schema()) for shape in checks.shapes.values()}


def _with_components(schema: Any) -> Any:
    """Return a schema whose references are to the components of an OpenAPI document."""
    if isinstance(schema, dict):
        return {
            key: value.replace("#/$defs/", SCHEMAS) if key == "$ref" else _with_components(value)
            for key, value in schema.items()
        }
    return [_with_components(item) for item in schema] if isinstance(schema, list) else schema


async def read_body(request: Request, *kinds: type) -> dict[str, Any]:
    """Read the body of a request and check it by the type that it has; no body is an empty object.

    Where several types fit, `kind` selects one. Raise `ProblemError` for a body that is not as declared.
    """
    body = await request.body()
    content_type = request.headers.get("content-type", "")
    if body and not is_json(content_type):
        raise ProblemError("wrong_media_type", f"the body is {content_type or 'of no type'}; send application/json")
    value = parse_json(body, request.app.state.context.settings.deepest_json) if body else {}
    return check_body(value, kinds)


def check_body(value: Any, kinds: tuple[type, ...]) -> dict[str, Any]:
    """Return a body that has its declared type; raise `ProblemError` otherwise."""
    if not isinstance(value, dict):
        raise ProblemError("bad_body", "the body must be a JSON object", path="")
    shape = checks.shape(kinds[0] if len(kinds) == 1 else _select(value, kinds))
    fault = shape.check(value)
    if fault is not None:
        problem = fault.problem("body")
        raise ProblemError("bad_body", problem.text, path=problem.path)
    return value


def _select(value: Mapping[str, Any], kinds: tuple[type, ...]) -> type:
    names = {kind.__annotations__["kind"].__args__[0]: kind for kind in kinds}
    name = value.get("kind")
    if not isinstance(name, str) or name not in names:
        raise ProblemError("bad_body", f"body: kind must be one of {', '.join(names)}", path="kind")
    return names[name]


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with a value as JSON."""
    return Response(encode(value).encode("utf-8"), status, headers, JSON)
