"""Problems of threads that cannot be continued here, in words for lists."""

from typing import NamedTuple

from antiphon.runtime.errors import NotRunning, Quarantined, StoreCorrupt, StoreError, UnknownMachine, UnknownRoot


class Problem(NamedTuple):
    """The status that a list shows for a thread, and the reason with what to do."""

    status: str
    text: str


UNSUPPORTED = Problem(
    "unsupported", "its machine is not one of this release; continue it with the release that wrote it"
)


def quarantine(id: str) -> Problem:
    """Return the problem of a quarantined thread."""
    return Problem("quarantined", f"it could not take a letter; see: antiphon db dead --root {id}")


def problem_of(id: str, error: Exception) -> Problem | None:
    """Return the problem of one thread, or None for an error that is not about this thread alone."""
    match error:
        case Quarantined():
            return quarantine(id)
        case UnknownMachine():
            return UNSUPPORTED
        case StoreCorrupt():
            return Problem("damaged", "its journal or snapshot is damaged; see: antiphon db check")
        case UnknownRoot() | NotRunning() | StoreError():
            return None
    return Problem("unreadable", f"its journal could not be replayed: {type(error).__name__}: {error}")
