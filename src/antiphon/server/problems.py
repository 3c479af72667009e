"""Problems: errors as RFC 9457 describes them, with a code, and whether the same request may succeed later."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from antiphon.agents.errors import BadAgents, InvalidAgent
from antiphon.chart.errors import EventError, EventRefused
from antiphon.debate import InvalidConfig
from antiphon.providers.errors import ProviderError
from antiphon.runtime import errors as runtime_errors
from antiphon.threads import errors as thread_errors

MEDIA_TYPE = "application/problem+json"
# After these the rest of the body is not read, so the connection is of no more use.
CLOSING_CODES = ("too_large", "slow_body")


class ProblemKind(NamedTuple):
    """Kind of problem: its HTTP status, its title, and whether the same request may succeed later."""

    status: int
    title: str
    is_recoverable: bool = False


CODES: Mapping[str, ProblemKind] = {
    "bad_json": ProblemKind(400, "The body is not JSON that the server reads"),
    "bad_body": ProblemKind(422, "The body does not have its declared type"),
    "bad_query": ProblemKind(422, "A parameter of the address does not have its declared type"),
    "bad_header": ProblemKind(400, "A header is wrong"),
    "bad_cursor": ProblemKind(400, "The text is not a cursor"),
    "bad_event": ProblemKind(422, "The event is not as declared, or may not come from outside"),
    "bad_settings": ProblemKind(422, "The settings of the thread are wrong"),
    "unusable_model": ProblemKind(422, "A model cannot be used here"),
    "unauthenticated": ProblemKind(401, "The token is missing or wrong"),
    "foreign_origin": ProblemKind(403, "The request comes from a page of another site"),
    "not_allowed": ProblemKind(403, "The operator of the server has not allowed this"),
    "insufficient_scope": ProblemKind(403, "The token does not have the scope that this needs"),
    "unknown_route": ProblemKind(404, "There is nothing at this address"),
    "unknown_thread": ProblemKind(404, "There is no such thread"),
    "unknown_actor": ProblemKind(404, "There is no such actor"),
    "unknown_step": ProblemKind(404, "The journal has no such step"),
    "unknown_chart": ProblemKind(404, "There is no such chart"),
    "wrong_method": ProblemKind(405, "The address does not take this method"),
    "not_acceptable": ProblemKind(406, "No accepted media type can be sent"),
    "slow_body": ProblemKind(408, "The body arrived too slowly", True),
    "busy": ProblemKind(409, "The thread is running", True),
    "refused": ProblemKind(409, "The thread does not take this now"),
    "exists": ProblemKind(409, "There is a thread of that id"),
    "wrong_kind": ProblemKind(409, "Threads of this kind do not take this"),
    "unknown_request": ProblemKind(409, "The request is not open"),
    "unknown_permission": ProblemKind(409, "The thread does not have this permission"),
    "other_history": ProblemKind(409, "The cursor is of another past of the thread"),
    "key_reused": ProblemKind(409, "The idempotency key was used for something else"),
    "not_taken": ProblemKind(409, "The step raised an exception; nothing has changed"),
    "unrunnable": ProblemKind(409, "The thread cannot be continued here"),
    "journal_compacted": ProblemKind(410, "The steps after the cursor were removed"),
    "too_large": ProblemKind(413, "The body is too large"),
    "wrong_media_type": ProblemKind(415, "The body must be application/json"),
    "wrong_host": ProblemKind(421, "The server is not reached by this name"),
    "too_many_requests": ProblemKind(429, "A limit of the token, the user or the address is reached", True),
    "model_failed": ProblemKind(502, "The model has failed", True),
    "internal": ProblemKind(500, "The server has failed", True),
    "too_busy": ProblemKind(503, "The server has too much to do", True),
    "stopping": ProblemKind(503, "The server is stopping", True),
    "store_failed": ProblemKind(503, "The store has failed", True),
    "no_space": ProblemKind(507, "The disk of the server has too little space", True),
}


class ProblemError(Exception):
    """A request that is answered with a problem; `more` are further members of its JSON."""

    def __init__(self, code: str, detail: str, *, recoverable: bool | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.kind = CODES[code]
        self.is_recoverable = self.kind.is_recoverable if recoverable is None else recoverable
        self.more = more

    def to_json(self) -> dict[str, Any]:
        """Return the problem as JSON."""
        return {
            "type": f"urn:antiphon:problem:{self.code}",
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
            "code": self.code,
            "recoverable": self.is_recoverable,
            **self.more,
        }


def headers_of(problem: ProblemError) -> dict[str, str]:
    """Return the headers of the response for a problem."""
    headers = {"content-type": MEDIA_TYPE}
    if problem.code == "unauthenticated":
        headers["www-authenticate"] = 'Bearer realm="antiphon"'
    if problem.code in CLOSING_CODES:
        headers["connection"] = "close"
    if problem.kind.status == 503 or "retryAfter" in problem.more:
        headers["retry-after"] = str(problem.more.get("retryAfter", 1))
    if "allow" in problem.more:
        headers["allow"] = ", ".join(problem.more["allow"])
    return headers


# The most specific class first.
BY_CLASS: tuple[tuple[type[Exception], str], ...] = (
    (thread_errors.WrongKind, "wrong_kind"),
    (thread_errors.UnknownThread, "unknown_thread"),
    (thread_errors.InvalidCursor, "bad_cursor"),
    (thread_errors.Busy, "busy"),
    (thread_errors.UnknownRequest, "unknown_request"),
    (thread_errors.UnknownPermission, "unknown_permission"),
    (thread_errors.NotTaken, "not_taken"),
    (BadAgents, "bad_settings"),
    (InvalidAgent, "bad_settings"),
    (InvalidConfig, "bad_settings"),
    (thread_errors.ThreadError, "refused"),
    (ProviderError, "unusable_model"),
    (EventRefused, "bad_event"),
    (EventError, "bad_event"),
    (runtime_errors.UnknownRoot, "unknown_actor"),
    (runtime_errors.RootExists, "exists"),
    (runtime_errors.OtherHistory, "other_history"),
    (runtime_errors.JournalCompacted, "journal_compacted"),
    (runtime_errors.InboxFull, "too_busy"),
    (runtime_errors.NotRunning, "stopping"),
    (runtime_errors.Quarantined, "unrunnable"),
    (runtime_errors.LoadFailed, "unrunnable"),
    (runtime_errors.UnknownMachine, "unrunnable"),
    (runtime_errors.ReplayDiffers, "unrunnable"),
    (runtime_errors.Unstorable, "bad_body"),
    (runtime_errors.StoreError, "store_failed"),
)


def problem_of(error: Exception) -> ProblemError | None:
    """Return the problem that an error of the app is for a client, or None for an error that is a bug."""
    code = next((code for kind, code in BY_CLASS if isinstance(error, kind)), None)
    if code is None:
        return None
    if isinstance(error, ProviderError):
        return ProblemError(code, error.message, recoverable=error.recoverable, providerCode=error.code.value)
    return ProblemError(code, str(error), error=type(error).__name__, **_more(error))


def _more(error: Exception) -> dict[str, Any]:
    if isinstance(error, thread_errors.UnknownRequest):
        return {"open": list(error.open)}
    if isinstance(error, thread_errors.UnknownPermission):
        return {"permission": error.permission, "permissions": list(error.permissions)}
    if isinstance(error, thread_errors.NotOffered):
        return {"offered": list(error.offered)}
    if isinstance(error, runtime_errors.OtherHistory):
        return {"resume": error.resume}
    if isinstance(error, runtime_errors.JournalCompacted):
        return {"first": error.first}
    if isinstance(error, InvalidConfig):
        return {"fields": [{"field": problem.field, "problem": problem.message} for problem in error.problems]}
    return {}
