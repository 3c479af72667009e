"""Stored records: letters, entries, tasks, and the commits that change them together.

Every event makes a letter, an entry, a commit, a receipt and often a task: they are named tuples, because a
frozen dataclass takes four times as long to create.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from antiphon.chart.checks.problems import EventProblem
from antiphon.chart.frozen import freeze
from antiphon.runtime.histories import format_cursor
from antiphon.runtime.index.rows import IndexChange

Json = Any
Safety = Literal["repeat", "report", "once"]
# A step of a descendant, a change of the root actor, or the first step of a tree.
Change = Literal["step", "changed", "created"]
Posting = Literal["accepted", "duplicate", "failed"]
Edit = Callable[[Json, Json], tuple[Json, Json]]
"""Function that changes the input and the snapshot of a fork."""


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
    arrival: int = 0  # order of arrival of letters from outside
    starts: int = 0  # unclean starts that tried to take it


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

    id: str  # {history}/{seq}/{number}: the idempotency key of the work
    root: str
    to: str  # the actor that represents it
    src: str
    input: Json
    safety: Safety
    attempt: int = 1
    boot: int = 0  # the boot of the store in which it was started
    starts: int = 0  # unclean starts that found it running


@dataclass(frozen=True, slots=True)
class Origin:
    """Facts about a root actor that are fixed when it is created; a migration changes version and hash."""

    history: str  # ids of the history, see `histories.py`: different for every tree ever created
    machine: str
    version: Json
    hash: str
    input: Json = None
    forked_from: str | None = None
    forked_seq: int | None = None


class Rejection(NamedTuple):
    """Outcome of a stored letter that no transition took, or whose event is not as declared."""

    letter: str
    seq: int
    can: tuple[str, ...] = ()  # the events that could happen then
    problem: EventProblem | None = None  # of an event that is not as declared, or may not come from outside


class TreeFailure(NamedTuple):
    """How often a tree was quarantined, and the reason of the latest time."""

    attempts: int
    reason: str


class Incident(NamedTuple):
    """Event that an operator should know about: a user's action that raised, or a step that replays differently."""

    root: str
    seq: int
    at: int
    kind: str
    detail: str


class Commit(NamedTuple):
    """All changes of one or more steps of a tree, stored together or not at all."""

    root: str
    expected: int  # the sequence before; a store refuses the commit if it differs
    at: int
    status: str
    origin: Origin | None = None  # of a new tree
    migrated: Origin | None = None  # of a tree that continues with another version or hash of its machine
    entries: tuple[Entry, ...] = ()
    taken: tuple[str, ...] = ()  # letters that were taken or cancelled
    letters: tuple[Letter, ...] = ()
    tasks: tuple[Task, ...] = ()
    ended: tuple[str, ...] = ()  # tasks that no longer run; their outcome is in the journal
    snapshot: Json = None  # or `Encoded`
    dead: tuple[tuple[Letter, str], ...] = ()
    mark: int = 0  # number of the commit, different from that of every other commit
    rejected: tuple[Rejection, ...] = ()  # stored letters that no transition took
    revived: tuple[str, ...] = ()  # dead letters that are retried or discarded
    failure: TreeFailure | None = None  # of a tree that is quarantined
    tenure: int = 0  # of the owner; a store refuses the commit if there was a later one; 0: not checked
    open: Json = None  # timers and tasks that are open at the snapshot, as `open_work.py` writes them; or `Encoded`
    index_change: IndexChange | None = None  # changes of the rows and texts of the tree
    projection: int | None = None  # version of the projection that made them; 0: none; None: the tree has no new step

    @property
    def seq(self) -> int:
        """Sequence after the commit."""
        return self.expected + len(self.entries)

    @property
    def has_only_entries(self) -> bool:
        """True if there is nothing but entries to store: no tasks, letters or snapshot."""
        return (
            not (self.taken or self.tasks or self.ended or self.migrated or self.letters)
            and not (self.dead or self.rejected or self.revived)
            and self.snapshot is None
            and self.index_change is None
            and self.failure is None
        )

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to store: all letters were rejected, and none of them had been stored."""
        return not (
            self.entries or self.taken or self.origin or self.tasks or self.dead or self.revived or self.failure
        )


@dataclass(frozen=True, slots=True)
class Saved:
    """Stored state of a tree: a snapshot, the entries after it, and open letters and tasks.

    At an earlier step, letters and tasks are the timers and tasks that were open at the snapshot, tasks without their
    inputs, and the hash of the chart is empty if the tree has changed its version since.
    """

    root: str
    origin: Origin
    status: str
    seq: int
    snapshot: Json = None
    snapshot_seq: int = 0
    entries: tuple[Entry, ...] = ()
    letters: tuple[Letter, ...] = ()
    tasks: tuple[Task, ...] = ()
    failure: TreeFailure | None = None
    mark: int = 0  # of the latest commit
    at: int = 0  # at an earlier step: time of the snapshot
    first: int = 1  # first step in the journal; those before were removed by compaction


@dataclass(frozen=True, slots=True)
class TreeSummary:
    """Row in a list of trees."""

    root: str
    machine: str
    status: str
    seq: int
    updated: int


class TreeState(NamedTuple):
    """A tree between two turns: its last step, the state of its root, and what it has left to do."""

    seq: int
    status: str
    value: Any
    waiting: bool  # True if letters are queued or due
    timers: int  # letters that are due later
    tasks: int  # tasks that are running


class RootState:
    """The root actor of a tree at its last stored step; its context is read a key at a time."""

    __slots__ = ("_children", "_context", "seq", "status", "value")

    def __init__(self, seq: int, status: str, value: Any, context: Any, children: Mapping[str, Any]) -> None:
        self.seq = seq
        self.status = status
        self.value = value
        self._context = context
        self._children = children

    def value_of(self, child: str) -> Any:
        """Return the state value of a child that is a machine, or None."""
        return freeze(self._children.get(child))

    def get(self, key: str, default: Any = None) -> Any:
        """Return a read-only value of the context."""
        return freeze(self._context.get(key, default))


class TreeChanges(NamedTuple):
    """Trees that have changed, each with the greatest of its changes; `is_behind` if some were left out."""

    roots: dict[str, Change]
    is_behind: bool = False


class Receipt(NamedTuple):
    """Outcome of a letter."""

    status: Literal["accepted", "rejected", "duplicate", "failed", "waiting"]
    letter: str
    seq: int = 0
    can: tuple[str, ...] = ()  # of a rejected letter: the events that can happen now
    error: str | None = None  # of a failed letter: the traceback of the function that raised; of a rejected one: why
    history: str = ""  # id of the history of the tree
    problem: EventProblem | None = None  # of a letter whose event is not as declared, or may not come from outside

    @property
    def cursor(self) -> str:
        """Cursor of the step, to follow the journal from."""
        return format_cursor(self.history, self.seq)


def problem_to_json(problem: EventProblem) -> Json:
    """Return the problem of an event as JSON."""
    return problem._asdict()


def problem_from_json(value: Json) -> EventProblem:
    """Return a problem from its JSON; raise `TypeError` if it is not one."""
    return EventProblem(**value)
