"""Comparison of a replayed step with its journal entry."""

from typing import Any, NamedTuple

from antiphon.chart.snapshot import Snapshot
from antiphon.runtime.errors import ReplayDiffers
from antiphon.runtime.records import Entry
from antiphon.runtime.replay.changes import Changes

SHOWN = 200  # characters of a value in a message


StepOutcome = tuple[Any, str | None]  # state value and status of an actor after a step, each None if unchanged


def outcome_of(before: Any, after: Any) -> StepOutcome:
    """Return the state value and the status of a snapshot, each None if it is the one before; not to be changed."""
    if type(after) is not Snapshot or type(before) is not Snapshot:
        return _other_outcome(before, after)
    new = after.configuration
    old = before.configuration
    value = None if new is old or new.shared_value == old.shared_value else new.shared_value
    is_same = after.frame is before.frame or after.status == before.status
    return value, None if is_same else after.status


def _other_outcome(before: Any, after: Any) -> StepOutcome:
    """Return the outcome of a step of an actor that is new or not a machine."""
    value = after.configuration.shared_value if type(after) is Snapshot else None
    return value, None if before is not None and after.status == before.status else after.status


class ReplayDifference(NamedTuple):
    """ReplayDifference between a stored step and its replay."""

    root: str
    seq: int
    event: str  # its type
    stored: dict[str, Any]
    replayed: dict[str, Any]
    is_context_only: bool  # the structure is equal: states, statuses, timers, tasks, emitted events

    @property
    def text(self) -> str:
        """The difference in one line."""
        return (
            f"step {self.seq} of {self.root!r} ({self.event!r}) was stored with {_describe(self.stored)}, "
            f"but replaying it gives {_describe(self.replayed)}"
        )


class ReplayCheck:
    """Compares the steps that a tree replays with its journal."""

    def __init__(self, release: str) -> None:
        self.release = release
        self.differences: list[ReplayDifference] = []  # in spite of which the replay continued
        self.warnings: list[str] = []  # their texts
        self._writer: str | None = None  # the release that wrote the entry that is replayed

    def compare(self, entry: Entry, before: Any, after: Any, changes: Changes | None, accept: bool) -> None:
        """Raise `ReplayDiffers` if a replayed step differs from its entry, unless differences are accepted.

        `before` and `after` are snapshots of its recipient, None if there is none; `changes` is None if the entry has
        no digest. If another release wrote the entry, a difference in context values alone is only a warning.
        """
        self._writer = entry.release or self._writer
        if after is not None and _is_same(entry, before, after, changes):
            return
        difference = _find_difference(entry, before, after, changes)
        if not (accept or (difference.is_context_only and self._writer != self.release)):
            raise ReplayDiffers(
                f"{difference.text}; restore the code that took this step, or release the tree with accept=True to "
                "continue from its replay"
            )
        self.differences.append(difference)
        self.warnings.append(difference.text)


def _is_same(entry: Entry, before: Any, after: Any, changes: Changes | None) -> bool:
    """Return whether a replayed step is as its entry says: by digest, or, if it has none, by state value and status."""
    if changes is None:
        return outcome_of(before, after) == (entry.value, entry.status)
    return changes.digest == entry.digest


def _find_difference(entry: Entry, before: Any, after: Any, changes: Changes | None) -> ReplayDifference:
    """Return how a replayed step differs from its entry."""
    outcome = None if after is None else outcome_of(before, after)
    digest = None if changes is None else changes.digest
    value = getattr(before, "value", None)
    stored = _facts(value, (entry.value, entry.status), entry.digest)
    is_context_only = False
    if outcome is None:
        replayed: dict[str, Any] = {"recipient": f"no actor {entry.to!r}"}
    else:
        replayed = _facts(value, outcome, digest)
        if changes is not None:
            replayed["changes"] = changes.describe()
        is_context_only = digest is not None and _structure(digest) == _structure(entry.digest or "")
    return ReplayDifference(entry.root, entry.seq, entry.event["type"], stored, replayed, is_context_only)


def _facts(before: Any, outcome: StepOutcome, digest: str | None) -> dict[str, Any]:
    value, status = outcome
    facts = {"value": before if value is None else value, "status": status, "digest": digest}
    return {name: fact for name, fact in facts.items() if fact is not None}


def _structure(digest: str) -> str:
    return digest.partition(".")[0]


def _describe(facts: dict[str, Any]) -> str:
    texts = (f"{name} {value if name in ('changes', 'recipient') else repr(value)}" for name, value in facts.items())
    return ", ".join(text if len(text) <= SHOWN else f"{text[:SHOWN]}…" for text in texts)
