"""Requests answered without FastAPI, which takes a third of the time that a server needs to start.

1. The endpoints are the same, and so is what they get. Only the ordinary case is read here: a known path and method,
   and values of the declared types. Anything else is passed on, so FastAPI alone finds what is wrong with a request.
2. All values are read before a function is called, so a request that is passed on has done nothing yet.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from antiphon.server.contracts import Contract, Endpoint, Routes, check_scope
from antiphon.server.error_responses import answer_error, is_expected
from antiphon.server.parameters import Depends, Header, Parameter, Path, Query

WHOLE = re.compile(r"-?[0-9]{1,15}")
TRUTH = {"true": True, "false": False}


class NotOrdinary(Exception):
    """A request is not the ordinary case."""


@dataclass(frozen=True, slots=True)
class BoundCall:
    """A function with its arguments, some of which are calls themselves."""

    function: Callable[..., Awaitable[Any]]
    arguments: dict[str, Any]

    async def run(self) -> Any:
        """Call the function, after those that its arguments depend on."""
        ready = {
            name: await value.run() if isinstance(value, BoundCall) else value for name, value in self.arguments.items()
        }
        return await self.function(**ready)


class Argument(NamedTuple):
    """An argument of a function: its name, type, source and default."""

    name: str
    kind: Any
    source: Parameter | Depends
    default: Any


class DirectRoutes:
    """Application that answers ordinary requests for some routes itself, and passes on all others."""

    def __init__(self, routes: Sequence[Routes], load: Callable[[], ASGIApp]) -> None:
        self._places = [
            (re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", contract.path)), contract, endpoint)
            for each in routes
            for contract, endpoint in each.endpoints
        ]
        self._load = load
        self._rest: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        place = self._find(scope) if scope["type"] == "http" else None
        if place is not None:
            request = Request(scope, receive, send)
            try:
                call = read_call(place[1], request)
            except NotOrdinary:
                del scope["route"]
            else:
                await _answer(place[0], call, request, send)
                return
        if self._rest is None:
            self._rest = self._load()
        await self._rest(scope, receive, send)

    def _find(self, scope: Scope) -> tuple[Contract, Endpoint] | None:
        """Return the route of a request, which is noted in its scope as FastAPI does it."""
        for pattern, contract, endpoint in self._places:
            match = pattern.fullmatch(scope["path"]) if contract.method == scope["method"] else None
            if match is not None:
                scope["path_params"] = match.groupdict()
                scope["route"] = contract
                return contract, endpoint
        return None


async def _answer(contract: Contract, call: BoundCall, request: Request, send: Send) -> None:
    try:
        check_scope(contract, request.scope)
        response = await call.run()
    except Exception as error:
        if not is_expected(error):
            raise
        response = await answer_error(request, error)
    await response(request.scope, request.receive, send)


def read_call(function: Callable[..., Awaitable[Any]], request: Request) -> BoundCall:
    """Read the arguments of a function from a request; raise `NotOrdinary` if one is not of its type."""
    arguments: dict[str, Any] = {}
    for argument in arguments_of(function):
        if argument.kind is Request:
            arguments[argument.name] = request
        elif isinstance(argument.source, Depends):
            arguments[argument.name] = read_call(argument.source.function, request)
        else:
            arguments[argument.name] = _read_value(argument, argument.source, request)
    return BoundCall(function, arguments)


@cache
def arguments_of(function: Callable[..., Any]) -> tuple[Argument, ...]:
    """Return the arguments of a function; one without a source is of the path or the query."""
    arguments = []
    for name, parameter in inspect.signature(function).parameters.items():
        kind = parameter.annotation
        source: Parameter | Depends = Query()
        if get_origin(kind) is Annotated:
            kind, source = get_args(kind)
        arguments.append(Argument(name, kind, source, parameter.default))
    return tuple(arguments)


def _read_value(argument: Argument, source: Parameter, request: Request) -> Any:
    name = source.alias or argument.name
    if isinstance(source, Header):
        texts = request.headers.getlist(source.alias or argument.name.replace("_", "-"))
    elif isinstance(source, Path) or name in request.path_params:
        texts = [request.path_params[name]]
    else:
        texts = request.query_params.getlist(name)
    if len(texts) > 1 or (not texts and argument.default is inspect.Parameter.empty):
        raise NotOrdinary
    return _convert(texts[0], argument.kind, source) if texts else argument.default


def _convert(text: str, kind: Any, limits: Parameter) -> Any:
    """Return a text as a value of a type, within limits; raise `NotOrdinary` if it is none."""
    kinds = [each for each in get_args(kind) if each is not NoneType]
    if NoneType in get_args(kind) and len(kinds) == 1:
        return _convert(text, kinds[0], limits)
    if kind is str and len(text) <= (limits.max_length or len(text)):
        return text
    if kind is bool and text in TRUTH:
        return TRUTH[text]
    if get_origin(kind) is Literal and text in get_args(kind):
        return text
    if kind is int and WHOLE.fullmatch(text):
        number = int(text)
        if (limits.ge is None or number >= limits.ge) and (limits.le is None or number <= limits.le):
            return number
    raise NotOrdinary
