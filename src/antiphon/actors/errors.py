"""Errors of the actor system."""


class ActorError(Exception):
    """Base of every error the actor system raises."""


class NoEventLoop(ActorError):
    """An asynchronous operation was requested where no asyncio event loop runs."""


class NotRoot(ActorError):
    """A child was stopped from outside; only a root actor can be."""


class SystemIdTaken(ActorError):
    """Two actors of one system claim the same system id."""


class WrongThread(ActorError):
    """An actor was used in another thread of the operating system than its own."""


class WaitError(ActorError):
    """The awaited condition cannot hold any more, or did not hold in time."""
