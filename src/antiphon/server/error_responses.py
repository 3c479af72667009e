"""Errors as responses: a problem, or the form of the protocol that an address belongs to."""

from typing import NamedTuple

from antiphon.runtime.encoding import encode
from antiphon.server.facades.openai import errors as openai_errors
from antiphon.server.problems import ProblemError, headers_of

JSON = "application/json"


class ErrorResponse(NamedTuple):
    """The response for an error."""

    status: int
    headers: dict[str, str]
    body: bytes


def error_response(path: str, problem: ProblemError) -> ErrorResponse:
    """Return the response for an error at an address."""
    if openai_errors.is_of_openai(path):
        headers = {**headers_of(problem), "content-type": JSON, **openai_errors.error_headers(problem)}
        body = encode(openai_errors.error_body(problem))
        return ErrorResponse(openai_errors.error_status(problem), headers, body.encode("utf-8"))
    return ErrorResponse(problem.kind.status, headers_of(problem), encode(problem.to_json()).encode("utf-8"))
