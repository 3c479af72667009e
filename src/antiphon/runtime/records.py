"""What is stored: letters, entries, tasks, and the commits that change them together.

Every event makes a letter, an entry, a commit, a receipt and often a task: they are named tuples, because a
frozen dataclass takes four times as long to make.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Json = Any
Safety = Literal["repeat", "report", "once"]


class Letter(NamedTuple):
    """An event on its way to an actor: now, or from `due` on. The only way in."""

    id: str
    root: str
    event: Json
    at: int  # when it was posted
    due: int
    to: str = ""  # which actor of the tree: ids from below the root, joined by slashes
    sender: str = ""  # for a delayed one: which actor of the tree sent it
    timer: str | None = None  # and under which name it can cancel it
    task: str | None = None  # the task it comes from
    attempt: int = 0


class Entry(NamedTuple):
    """One step in a tree's journal. The only way out."""

    root: str
    seq: int
    at: int
    to: str
    event: Json
    letter: str | None = None
    value: Json = None  # the state value of the actor it was for, if that changed
    status: str | None = None  # its status, if that changed
    emitted: tuple[Json, ...] = ()
    timer: str | None = None  # the delayed letter it took, by id


class Task(NamedTuple):
    """Work outside the machine: asked for by a step, its result comes back as a letter. Stored while it runs."""

    id: str  # {incarnation}/{seq}/{number}: the idempotency key of whatever the task does
    root: str
    to: str  # the actor that stands for it
    src: str
    input: Json
    safety: Safety
    attempt: int = 1
    epoch: int = 0  # the boot in which it was started


@dataclass(frozen=True, slots=True)
class Birth:
    """What is known of a root actor from its beginning."""

    incarnation: str
    machine: str
    version: Json
    hash: str
    input: Json = None
    forked_from: str | None = None
    forked_seq: int | None = None


class Commit(NamedTuple):
    """Everything one or more steps of a tree change: all of it, or nothing."""

    root: str
    expected: int  # the sequence before; the fence
    at: int
    status: str
    birth: Birth | None = None  # of a tree that is new
    moved: Birth | None = None  # of one that goes on with another version of its machine
    entries: tuple[Entry, ...] = ()
    taken: tuple[str, ...] = ()  # letters that are done with, or cancelled
    letters: tuple[Letter, ...] = ()
    tasks: tuple[Task, ...] = ()
    ended: tuple[str, ...] = ()  # tasks that run no more; how they ended is in the journal
    snapshot: Json = None  # or `Encoded`
    dead: tuple[tuple[Letter, str], ...] = ()

    @property
    def seq(self) -> int:
        """The sequence after."""
        return self.expected + len(self.entries)

    @property
    def has_only_entries(self) -> bool:
        """Whether there is nothing else to store, as in most: no task began or ended, and no snapshot is due."""
        return (
            not (self.taken or self.tasks or self.ended or self.moved or self.dead or self.letters)
            and self.snapshot is None
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to store: all letters were refused, and none of them had been stored."""
        return not (self.entries or self.taken or self.birth or self.tasks or self.dead)


@dataclass(frozen=True, slots=True)
class Saved:
    """A tree as it is stored: a snapshot, what came after it, and what is still open."""

    root: str
    birth: Birth
    status: str
    seq: int
    snapshot: Json = None
    snapshot_seq: int = 0
    entries: tuple[Entry, ...] = ()
    letters: tuple[Letter, ...] = ()
    tasks: tuple[Task, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """A tree in a list."""

    root: str
    machine: str
    status: str
    seq: int
    updated: int


class Receipt(NamedTuple):
    """What became of a letter."""

    status: Literal["accepted", "rejected", "duplicate"]
    letter: str
    seq: int = 0
    can: tuple[str, ...] = ()  # for a rejected one: the events that can happen now
