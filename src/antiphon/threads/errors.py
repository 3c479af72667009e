"""Errors of the app: what a caller asked of a thread that cannot be."""


class AppError(Exception):
    """Base of every error the app raises."""


class UnknownThread(AppError):
    """There is no thread of that id."""


class Busy(AppError):
    """A thread is at work, and takes no message meanwhile."""


class Refused(AppError):
    """A thread, or its chat, does not do that now; the message says why."""


class NothingSaid(Refused):
    """The conversation has not begun."""
