"""Errors as responses: a problem, a page for a browser, or the form of the protocol that an address belongs to."""

from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from antiphon.runtime.encoding import encode
from antiphon.server.context import ServerContext
from antiphon.server.contracts import CONTEXT, JSON
from antiphon.server.facades.openai import errors as openai_errors
from antiphon.server.pages import PROBLEM_POLICY, problem_page
from antiphon.server.problems import ProblemError, headers_of, problem_of

CODE = "antiphon.code"  # key of the code of a problem in the scope of a request
BY_STATUS = {404: "unknown_route", 405: "wrong_method"}
# Problems that say what the thread takes instead.
WITH_EVENTS = ("busy", "refused", "unknown_request", "wrong_kind", "not_taken")
HTML = "text/html; charset=utf-8"


class ErrorResponse(NamedTuple):
    """The response for an error."""

    status: int
    headers: dict[str, str]
    body: bytes


def error_response(scope: Scope, problem: ProblemError) -> ErrorResponse:
    """Return the response for an error of a request."""
    path: str = scope["path"]
    if openai_errors.is_of_openai(path):
        headers = {**headers_of(problem), "content-type": JSON, **openai_errors.error_headers(problem)}
        body = encode(openai_errors.error_body(problem))
        return ErrorResponse(openai_errors.error_status(problem), headers, body.encode("utf-8"))
    if _is_opened_by_a_person(scope):
        headers = {**headers_of(problem), "content-type": HTML, "content-security-policy": PROBLEM_POLICY}
        return ErrorResponse(problem.kind.status, headers, problem_page(problem).encode("utf-8"))
    return ErrorResponse(problem.kind.status, headers_of(problem), encode(problem.to_json()).encode("utf-8"))


def is_expected(error: Exception) -> bool:
    """Return whether an error of a route is the fault of a request, or of what it asks for."""
    return isinstance(error, ProblemError | HTTPException) or problem_of(error) is not None


async def answer_error(request: Request, error: Exception) -> Response:
    """Return the response for an error of a route."""
    problem = _problem(error)
    if problem.code in WITH_EVENTS and "can" not in problem.more:
        await _add_events(request, problem)
    request.scope[CODE] = problem.code
    response = error_response(request.scope, problem)
    return Response(response.body, response.status, response.headers)


def _problem(error: Exception) -> ProblemError:
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, HTTPException):
        allow = (error.headers or {}).get("Allow") or ""
        code = BY_STATUS.get(error.status_code, "bad_query")
        more: dict[str, Any] = {"allow": sorted(allow.replace(" ", "").split(","))} if allow else {}
        return ProblemError(code, str(error.detail), **more)
    return problem_of(error) or ProblemError("internal", "see the log of the server")


async def _add_events(request: Request, problem: ProblemError) -> None:
    """Add the events that the thread takes now to a problem."""
    context: ServerContext = request.scope[CONTEXT]
    try:
        events = await context.app.threads.can(request.path_params["id"])
    except Exception as error:  # the problem itself is what the client is to know
        if problem_of(error) is None and not isinstance(error, KeyError):
            raise
        return
    problem.more["can"] = {address: list(names) for address, names in events.items()}


def _is_opened_by_a_person(scope: Scope) -> bool:
    """Return whether a browser shows the response as a page; a script of a page does not ask like this."""
    return scope["method"] in ("GET", "HEAD") and (b"sec-fetch-mode", b"navigate") in scope["headers"]
