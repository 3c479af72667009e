"""Errors of the durable runtime and its stores."""


class RuntimeFault(Exception):
    """Base of all errors of the runtime."""


class UnknownRoot(RuntimeFault):
    """No root actor has that id."""


class RootExists(RuntimeFault):
    """A root actor of that id exists already."""


class UnknownMachine(RuntimeFault):
    """A stored actor runs a machine that was not registered."""


class MachineTaken(RuntimeFault):
    """A machine has the id of another one that is registered."""


class InboxFull(RuntimeFault):
    """The inbox of an actor is full; try again later."""


class NotRunning(RuntimeFault):
    """The runtime was not started, or is shutting down."""


class WrongLoop(RuntimeFault):
    """The runtime was called in another event loop than the one that started it."""


class Failed(RuntimeFault):
    """A root actor ended in an error, so it has no output."""


class OtherHistory(RuntimeFault):
    """A cursor belongs to another past of a tree: one that a restored backup ended, or that of another tree."""

    def __init__(self, root: str, cursor: str, history: str, shared: int, resume: str) -> None:
        super().__init__(
            f"the cursor {cursor!r} belongs to another past of {root!r}, whose history is {history!r} now; "
            f"discard the steps after {shared} and read again from {resume!r}"
        )
        self.root = root
        self.cursor = cursor
        self.history = history  # the present one
        self.shared = shared  # the last step that both pasts are known to have, or 0
        self.resume = resume  # the cursor of that step


class Quarantined(RuntimeFault):
    """A root actor is quarantined: it could not be loaded, or could not take a timer or a result of a task."""


class LoadFailed(RuntimeFault):
    """A root actor could not be loaded: its machine or a migration raised an exception."""


class StepFailed(RuntimeFault):
    """A step would end a root actor in an error; its cause is the exception that a function raised."""


class LoopFailed(NotRunning):
    """The runtime has stopped because of an error in its loop, which is the cause."""


class UnknownLetter(RuntimeFault):
    """There is no dead letter of that id."""


class ReplayDiffers(RuntimeFault):
    """Replaying a stored step does not give what the step gave when it was taken."""


class JournalCompacted(RuntimeFault):
    """Steps of a journal that a reader asked for were removed; `first` is the first step that is left."""

    def __init__(self, root: str, first: int) -> None:
        super().__init__(
            f"the journal of {root!r} begins at step {first}: the steps before were removed by `antiphon db compact`; "
            f"read it after step {first - 1}, or start from a snapshot"
        )
        self.first = first


class StoreError(RuntimeFault):
    """An operation of the store failed; unless it is `StoreStopped`, it changed nothing."""


class Unstorable(StoreError):
    """A value is not JSON or too large for its column; trying again does not help."""


class Undecodable(StoreError):
    """A stored value needs a codec that is not registered in this process, or that could not read it."""


class StoreBusy(StoreError):
    """Another process owns the store for writing."""


class StoreStopped(StoreError):
    """A flush to disk has failed: the outcome of that commit is unknown, and the store accepts no more writes."""


class StoreCorrupt(StoreError):
    """The file of the store is damaged."""


class Conflict(StoreError):
    """The stored actor has advanced in the meantime; a step computed from its old state must not be stored."""


class Superseded(Conflict):
    """The tree has another owner in the meantime, with a later tenure."""


class NotOwner(RuntimeFault):
    """The tree is run by another process; send the letter there."""
