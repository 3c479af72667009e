"""Errors of services: what was asked for that cannot be."""

from collections.abc import Iterable


class ServiceError(Exception):
    """Base of every error a service raises."""


class InvalidTransition(ServiceError):
    """A thread was sent an event that its status does not allow."""

    def __init__(self, thread_id: str, status: str, event_type: str, reason: str, valid: Iterable[str]) -> None:
        self.thread_id, self.status, self.event_type, self.reason = thread_id, status, event_type, reason
        self.valid_events = tuple(valid)
        super().__init__(
            f"thread {thread_id!r} is {status!r} and refuses {event_type!r}: {reason}; "
            f"valid events: {', '.join(self.valid_events)}"
        )


class Busy(ServiceError):
    """A reply is still under way; wait for it, cancel it, or send with another `on_busy`."""


class OverBudget(ServiceError):
    """The budget of a conversation is spent."""


class UnknownSetting(ServiceError):
    """A setting was given that no conversation has."""


class NothingToRetry(ServiceError):
    """There is no failed reply to ask for again."""


class NotOpen(ServiceError):
    """A conversation was used before it was opened, or after it was closed."""
