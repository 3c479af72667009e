"""Errors of the services: what a caller asked for that cannot be."""


class ServiceError(Exception):
    """Base of every error the services raise."""


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
