"""Problems of a server (RFC 9457) as the errors that an app raises."""

import json
from collections.abc import Mapping
from typing import Any

from antiphon.agents import errors as agent_errors
from antiphon.chart import errors as chart_errors
from antiphon.client.errors import NotAuthenticated, UnexpectedProblem
from antiphon.debate.machine.config import FieldProblem, InvalidConfig
from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.runtime import errors as runtime_errors
from antiphon.runtime.histories import parse_cursor
from antiphon.threads import errors as thread_errors

Json = Mapping[str, Any]
MODULES = (thread_errors, runtime_errors, agent_errors, chart_errors)
# The error of a code, where the problem does not name one.
BY_CODE: Mapping[str, type[Exception]] = {
    "bad_cursor": thread_errors.InvalidCursor,
    "bad_event": thread_errors.Refused,
    "bad_settings": thread_errors.Refused,
    "bad_body": thread_errors.Refused,
    "bad_query": thread_errors.Refused,
    "busy": thread_errors.Busy,
    "exists": thread_errors.Refused,
    "not_taken": thread_errors.NotTaken,
    "refused": thread_errors.Refused,
    "unknown_actor": thread_errors.UnknownThread,
    "unknown_permission": thread_errors.UnknownPermission,
    "unknown_request": thread_errors.UnknownRequest,
    "unknown_step": thread_errors.Refused,
    "unknown_thread": thread_errors.UnknownThread,
    "wrong_kind": thread_errors.WrongKind,
}
LISTS = ("open", "offered", "permissions")
NO_TOKEN = (
    "the server does not accept the token, or needs one; set ANTIPHON_TOKEN to the one that it printed, or that "
    "`antiphon tokens add` has made, or pass it with --token-file FILE or token=…"
)
UNKNOWN = "the server answered with status {status}, and not with a problem; check the address"


def read_problem(status: int, body: bytes) -> dict[str, Any]:
    """Return the problem in the body of a response; a body of another form is a problem of the status."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    if isinstance(problem, dict) and isinstance(problem.get("code"), str):
        return problem
    return {"code": "unknown", "detail": UNKNOWN.format(status=status), "status": status}


def error_of(problem: Json, *, thread: str = "", request: str | None = None, cursor: str = "") -> Exception:
    """Return the error for a problem; `thread`, `request` and `cursor` are those that the client asked for."""
    code = problem["code"]
    detail = str(problem.get("detail", ""))
    if code == "unusable_model":
        known = {member.value: member for member in Code}
        provider_code = known.get(problem.get("providerCode", ""), Code.UNSUPPORTED)
        return ProviderError(provider_code, detail, recoverable=bool(problem.get("recoverable")))
    if problem.get("error") == InvalidConfig.__name__:
        return InvalidConfig([FieldProblem(row["field"], row["problem"]) for row in problem.get("fields", ())])
    kind = _class_of(problem)
    if kind is None:
        status = int(problem.get("status", 500))
        is_recoverable = bool(problem.get("recoverable"))
        if code == "unauthenticated":
            return NotAuthenticated(code, NO_TOKEN, status=status, recoverable=is_recoverable)
        return UnexpectedProblem(code, detail, status=status, recoverable=is_recoverable)
    facts = {"thread": thread, "root": thread, "request": request, "cursor": cursor, **_facts(problem)}
    return _make(kind, detail, facts)


def _class_of(problem: Json) -> type[Exception] | None:
    name = problem.get("error")
    for module in MODULES:
        kind = getattr(module, name, None) if isinstance(name, str) else None
        if isinstance(kind, type) and issubclass(kind, Exception):
            return kind
    return BY_CODE.get(problem["code"])


def _facts(problem: Json) -> dict[str, Any]:
    """Return the attributes of errors that a problem has members for."""
    facts: dict[str, Any] = {name: tuple(problem[name]) for name in LISTS if name in problem}
    if "permission" in problem:
        facts["permission"] = problem["permission"]
    if "first" in problem:
        facts["first"] = problem["first"]
    if "resume" in problem:
        place = parse_cursor(problem["resume"])
        facts |= {"resume": problem["resume"], "shared": place.seq, "history": place.history}
    return facts


def _make(kind: type[Exception], detail: str, facts: Json) -> Exception:
    """Return an error with the message of the server, which is complete: no constructor may add to it."""
    error: Exception = kind.__new__(kind)
    error.args = (detail,)
    lists = dict.fromkeys(LISTS, ())
    defaults = {**lists, "kind": None, "expected": "thread", "error": None, "problem": None}
    for name, value in {**defaults, **facts}.items():
        setattr(error, name, value)
    return error
