"""Errors of the actor system."""


class ActorError(Exception):
    """Base of every error the actor system raises."""


class NoEventLoop(ActorError):
    """Something asynchronous was asked for where no asyncio event loop runs."""


class NotRoot(ActorError):
    """Only a root actor can be stopped from outside."""


class SystemIdTaken(ActorError):
    """Two actors of one system claim the same system id."""


class WaitError(ActorError):
    """What was waited for will not happen, or did not happen in time."""
