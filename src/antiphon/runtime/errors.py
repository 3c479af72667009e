"""Errors of the durable runtime and its stores."""


class RuntimeFault(Exception):
    """Base of every error the runtime raises."""


class UnknownRoot(RuntimeFault):
    """There is no root actor of that id."""


class RootExists(RuntimeFault):
    """A root actor of that id exists already."""


class UnknownMachine(RuntimeFault):
    """A stored actor runs a machine that was not registered."""


class InboxFull(RuntimeFault):
    """An actor has more letters waiting than it may; try again later."""


class NotRunning(RuntimeFault):
    """The runtime was not started, or is shutting down."""


class Failed(RuntimeFault):
    """A root actor has ended in an error, so there is no output."""


class Quarantined(RuntimeFault):
    """An actor was set aside because a letter could not be taken; see its dead letters."""


class StoreError(RuntimeFault):
    """The store could not do what was asked; nothing was changed."""


class Unstorable(StoreError):
    """What is to be stored is not JSON, or too large for its place; trying again does not help."""


class StoreBusy(StoreError):
    """Another process owns the store for writing."""


class StoreCorrupt(StoreError):
    """The store's file is damaged."""


class Conflict(StoreError):
    """Somebody else has moved the actor on; what was computed from the old state must not be stored."""
