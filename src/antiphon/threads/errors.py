"""Errors of threads: requests of a caller that are not possible."""

from collections.abc import Iterable, Sequence
from typing import Literal

ON_BUSY = ("reject", "queue", "interrupt", "merge")  # answers to a message for a thread that is running


Plan = Literal["fork", "merge"]


class ThreadError(Exception):
    """Base of every error that threads and their drivers raise."""


class UnknownThread(ThreadError):
    """There is no thread of that id."""


class WrongKind(UnknownThread):
    """A thread is of another kind than the one that was asked for."""

    def __init__(self, thread: str, kind: str | None, expected: str, advice: str = "") -> None:
        noun = kind or "thread without a kind"
        use = advice or (f"use app.{kind}s, or app.threads for all kinds" if kind else "use app.threads")
        super().__init__(f"thread {thread!r} is a {noun}, not a {expected}; {use}")
        self.thread = thread
        self.kind = kind
        self.expected = expected


class InvalidCursor(ThreadError):
    """A text is not a cursor of a list or a search."""


class Busy(ThreadError):
    """A thread is running and takes no message; wait, stop it, or send with another `on_busy`."""


class Refused(ThreadError):
    """A request that the thread refuses; the message says why."""


class NotTaken(ThreadError):
    """A step raised an exception, so the thread is as before; the event is kept as a dead letter."""

    def __init__(self, thread: str, error: str | None) -> None:
        reason = (error or "").strip().rpartition("\n")[2]
        super().__init__(f"thread {thread!r} could not take it: {reason}; see: antiphon db dead --root {thread}")
        self.thread = thread
        self.error = error


class NotPermitted(ThreadError):
    """A tool call without a permission of this history, as one that came with an imported file."""


class NotOffered(Refused):
    """An answer to a request for permission that allows more than the request offers.

    `offered` has the scopes that it offers.
    """

    def __init__(self, request: str, problem: str, offered: Sequence[str]) -> None:
        self.request = request
        self.offered = tuple(offered)
        super().__init__(f"request {request!r} does not offer that: {problem}; offered: {', '.join(offered)}")


class NothingSaid(Refused):
    """The conversation has not begun."""


class UnknownRequest(Refused):
    """A request that is not open: it was answered, it has expired, or there never was one; or no id for one of several.

    `open` has the ids of the requests that are open.
    """

    def __init__(self, thread: str, request: str | None, open: Sequence[str], state: str) -> None:
        self.thread = thread
        self.request = request
        self.open = tuple(open)
        if request is not None:
            problem = f"request {request!r} is not open: it was answered, it has expired, or there never was one"
        elif open:
            problem = "several requests are open; name one with request="
        else:
            problem = "no answer is waited for"
        listed = f"open: {', '.join(map(repr, open))}" if open else f"none is open: {state}"
        super().__init__(f"thread {thread!r}: {problem}; {listed}")


class UnknownPermission(Refused):
    """A permission that a thread does not have: it was taken back, it has ended with a run, or there never was one.

    `permissions` has the ids of those that it has.
    """

    def __init__(self, thread: str, permission: str, permissions: Sequence[str]) -> None:
        self.thread = thread
        self.permission = permission
        self.permissions = tuple(permissions)
        listed = f"it has: {', '.join(permissions)}" if permissions else "it has no standing permissions"
        super().__init__(f"thread {thread!r} has no permission {permission!r}; {listed}")


class InvalidTransition(ThreadError):
    """A thread was sent an event that its status does not allow."""

    def __init__(self, thread_id: str, status: str, event_type: str, reason: str, valid: Iterable[str]) -> None:
        self.thread_id = thread_id
        self.status = status
        self.event_type = event_type
        self.reason = reason
        self.valid_events = tuple(valid)
        super().__init__(
            f"thread {thread_id!r} is {status!r} and refuses {event_type!r}: {reason}; "
            f"valid events: {', '.join(self.valid_events)}"
        )


class OverBudget(ThreadError):
    """The budget of a conversation is spent."""


class UnknownSetting(ThreadError):
    """A setting was given that no conversation has."""


class NothingToRetry(ThreadError):
    """There is no failed reply to retry."""


class NotOpen(ThreadError):
    """A conversation was used before it was opened, or after it was closed."""


class PlanOpen(Refused):
    """A chat takes no message before a planned fork or merge is confirmed or cancelled."""

    def __init__(self, thread: str, plan: Plan) -> None:
        super().__init__(
            f"chat {thread!r} has a planned {plan}; confirm it (confirm_{plan}) or cancel it (cancel_{plan}) first"
        )
        self.plan = plan
