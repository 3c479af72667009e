"""Stored records: letters, entries, tasks, and the commits that change them together.

Every event makes a letter, an entry, a commit, a receipt and often a task: they are named tuples, because a
frozen dataclass takes four times as long to create.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Json = Any
Safety = Literal["repeat", "report", "once"]


class Letter(NamedTuple):
    """Event on its way to an actor, to be taken at once or from `due` on. The only way in."""

    id: str
    root: str
    event: Json
    at: int  # when it was posted
    due: int
    to: str = ""  # recipient in the tree: ids from below the root, joined by slashes
    sender: str = ""  # of a delayed letter: the actor of the tree that sent it
    timer: str | None = None  # of a delayed letter: the name under which its sender can cancel it
    task: str | None = None  # the task it comes from
    attempt: int = 0


class Entry(NamedTuple):
    """One step in the journal of a tree. The only way out."""

    root: str
    seq: int
    at: int
    to: str
    event: Json
    letter: str | None = None
    value: Json = None  # state value of the recipient, if it changed
    status: str | None = None  # status of the recipient, if it changed
    emitted: tuple[Json, ...] = ()
    timer: str | None = None  # id of the delayed letter that was taken
    digest: str | None = None  # of what the step changed (`changes.py`); older entries have none
    release: str | None = None  # of Antiphon that took the step; None if it is that of the entry before


class Task(NamedTuple):
    """Work outside the machine, requested by a step; its result comes back as a letter. Stored while it runs."""

    id: str  # {origin id}/{seq}/{number}: the idempotency key of the work
    root: str
    to: str  # the actor that represents it
    src: str
    input: Json
    safety: Safety
    attempt: int = 1
    boot: int = 0  # the boot of the store in which it was started


@dataclass(frozen=True, slots=True)
class Origin:
    """Facts about a root actor that are fixed when it is created; a migration changes version and hash."""

    id: str  # different for every tree ever created, even under the same root id
    machine: str
    version: Json
    hash: str
    input: Json = None
    forked_from: str | None = None
    forked_seq: int | None = None


class Commit(NamedTuple):
    """All changes of one or more steps of a tree, stored together or not at all."""

    root: str
    expected: int  # the sequence before; a store refuses the commit if it differs
    at: int
    status: str
    origin: Origin | None = None  # of a new tree
    migrated: Origin | None = None  # of a tree that continues with another version of its machine
    entries: tuple[Entry, ...] = ()
    taken: tuple[str, ...] = ()  # letters that were taken or cancelled
    letters: tuple[Letter, ...] = ()
    tasks: tuple[Task, ...] = ()
    ended: tuple[str, ...] = ()  # tasks that no longer run; their outcome is in the journal
    snapshot: Json = None  # or `Encoded`
    dead: tuple[tuple[Letter, str], ...] = ()

    @property
    def seq(self) -> int:
        """Sequence after the commit."""
        return self.expected + len(self.entries)

    @property
    def has_only_entries(self) -> bool:
        """True if there is nothing but entries to store: no tasks, letters or snapshot."""
        return (
            not (self.taken or self.tasks or self.ended or self.migrated or self.dead or self.letters)
            and self.snapshot is None
        )

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to store: all letters were rejected, and none of them had been stored."""
        return not (self.entries or self.taken or self.origin or self.tasks or self.dead)


@dataclass(frozen=True, slots=True)
class Saved:
    """Stored state of a tree: a snapshot, the entries after it, and open letters and tasks."""

    root: str
    origin: Origin
    status: str
    seq: int
    snapshot: Json = None
    snapshot_seq: int = 0
    entries: tuple[Entry, ...] = ()
    letters: tuple[Letter, ...] = ()
    tasks: tuple[Task, ...] = ()


@dataclass(frozen=True, slots=True)
class TreeSummary:
    """Row in a list of trees."""

    root: str
    machine: str
    status: str
    seq: int
    updated: int


class Receipt(NamedTuple):
    """Outcome of a letter."""

    status: Literal["accepted", "rejected", "duplicate"]
    letter: str
    seq: int = 0
    can: tuple[str, ...] = ()  # of a rejected letter: the events that can happen now
