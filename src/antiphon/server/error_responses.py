"""Errors as responses: a problem, a page for a browser, or the form of the protocol that an address belongs to."""

from typing import NamedTuple

from starlette.types import Scope

from antiphon.runtime.encoding import encode
from antiphon.server.facades.openai import errors as openai_errors
from antiphon.server.pages import PROBLEM_POLICY, problem_page
from antiphon.server.problems import ProblemError, headers_of

JSON = "application/json"
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


def _is_opened_by_a_person(scope: Scope) -> bool:
    """Return whether a browser shows the response as a page; a script of a page does not ask like this."""
    return scope["method"] in ("GET", "HEAD") and (b"sec-fetch-mode", b"navigate") in scope["headers"]
