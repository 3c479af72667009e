"""Errors in the form of OpenAI: `{"error": {"message", "type", "param", "code"}}`."""

from collections.abc import Mapping
from typing import Any

from antiphon.errors import Code
from antiphon.server.problems import ProblemError

PREFIX = "/v1/"
# Codes that clients know by another name.
CODES: Mapping[str, str] = {
    "unauthenticated": "invalid_api_key",
    "unusable_model": "model_not_found",
    "unknown_thread": "model_not_found",
}
STATUSES: Mapping[str, int] = {"unusable_model": 404}
BAD_REQUEST = 400
# Statuses and codes of failures of a model; all others are 502 and `model_failed`.
FAILURES: Mapping[str, tuple[int, str]] = {
    Code.OVERLOADED: (503, "overloaded"),
    Code.TIMEOUT: (504, "timeout"),
    Code.RATE_LIMITED: (429, "rate_limit_exceeded"),
    Code.CONCURRENCY: (429, "rate_limit_exceeded"),
    Code.QUOTA: (429, "insufficient_quota"),
    Code.OWNER_LIMIT: (429, "insufficient_quota"),
    Code.BAD_REQUEST: (BAD_REQUEST, "bad_request"),
    Code.UNSUPPORTED: (BAD_REQUEST, "unsupported"),
    Code.TOO_LONG: (BAD_REQUEST, "context_length_exceeded"),
    Code.NOT_FOUND: (404, "model_not_found"),
}


def bad_parameter(name: str, text: str) -> ProblemError:
    """Return the error for a parameter that is wrong or not supported."""
    return ProblemError("bad_body", f"{name}: {text}", path=name)


def is_of_openai(path: str) -> bool:
    """Return whether errors at an address have the form of OpenAI."""
    return path.startswith(PREFIX)


def error_status(problem: ProblemError) -> int:
    """Return the HTTP status of an error: what the client sent wrong is 400, as there."""
    if problem.code == "model_failed":
        return _failure(problem)[0]
    status = STATUSES.get(problem.code, problem.kind.status)
    return BAD_REQUEST if status == 422 else status


def error_body(problem: ProblemError) -> dict[str, Any]:
    """Return the body of an error."""
    status = error_status(problem)
    code = _failure(problem)[1] if problem.code == "model_failed" else CODES.get(problem.code, problem.code)
    error = {
        "message": problem.detail,
        "type": _type(status),
        "param": problem.more.get("path") or None,
        "code": code,
    }
    return {"error": error}


def error_headers(problem: ProblemError) -> dict[str, str]:
    """Return the headers of an error: the thread has asked a model again already, so the client need not."""
    return {"x-should-retry": "false"} if problem.code == "model_failed" else {}


def _failure(problem: ProblemError) -> tuple[int, str]:
    return FAILURES.get(problem.more.get("providerCode", ""), (problem.kind.status, problem.code))


def _type(status: int) -> str:
    if status == 429:
        return "rate_limit_error"
    return "invalid_request_error" if status < 500 else "server_error"
