"""Contracts of routes: what each takes and gives, for checks, the OpenAPI document and the page of routes."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope as RequestScope

from antiphon.chart.checks.types import TypeChecks
from antiphon.runtime.encoding import encode
from antiphon.server.authentication import Caller
from antiphon.server.json_body import is_json, parse_json
from antiphon.server.problems import ProblemError
from antiphon.server.replies import ProblemReply
from antiphon.server.tokens import Scope

Endpoint = Callable[..., Awaitable[Response]]
JSON = "application/json"
SCHEMAS = "#/components/schemas/"
SAFE = ("GET", "HEAD")
# Keys in the scope of a request: its caller, and the context of the server.
CALLER = "antiphon.caller"
CONTEXT = "antiphon.context"
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
        self.tag = tag
        self._errors = errors
        self.endpoints: list[tuple[Contract, Endpoint]] = []

    @property
    def contracts(self) -> list[Contract]:
        """The contracts of all routes."""
        return [contract for contract, _ in self.endpoints]

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

        def decorate(endpoint: Endpoint) -> Endpoint:
            self.endpoints.append((contract, endpoint))
            return endpoint

        return decorate


def _scope_of(method: str) -> Scope:
    return "read" if method in SAFE else "write"


def check_scope(contract: Contract, scope: RequestScope) -> None:
    """Raise `ProblemError` if the token of a request lacks the scope of a route."""
    caller: Caller | None = scope.get(CALLER)
    if contract.scope != "none" and (caller is None or not caller.has_scope(contract.scope)):
        own = "none" if caller is None else caller.scope
        detail = f"{contract.method} {contract.path} needs a token of the scope {contract.scope}; yours has {own}"
        raise ProblemError("insufficient_scope", detail)


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
    value = parse_json(body, request.scope[CONTEXT].settings.deepest_json) if body else {}
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
