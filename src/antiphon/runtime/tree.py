"""Trees: a root actor with all its descendants, as one thing that takes letters.

A tree in memory is a cache. It is rebuilt from its snapshot and the journal after it, and thrown away
whenever what it computed could not be stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from antiphon.actors.actor import Actor
from antiphon.actors.clock import SimulatedClock
from antiphon.actors.tasks import REJECT, RESOLVE
from antiphon.chart.persist import to_json_error
from antiphon.chart.snapshot import Snapshot
from antiphon.runtime.admission import acceptable_events
from antiphon.runtime.encoding import Encoded, encoded
from antiphon.runtime.errors import Failed
from antiphon.runtime.hosting import Notes, TreeHost
from antiphon.runtime.machines import AnyMachine, chart_hash
from antiphon.runtime.paths import actor_at
from antiphon.runtime.records import Birth, Commit, Entry, Letter, Receipt, Saved, Task

Ask = Callable[[Task, Any], Any]  # the event that says how a task ended, if it did
MIGRATED = "antiphon.migrated"
# A snapshot is due when replaying would cost more than writing one.
SNAPSHOT_ENTRIES, SNAPSHOT_LIMIT = 100, 1000


class Batch:
    """The steps a tree has taken and not stored yet."""

    __slots__ = ("at", "begun", "birth", "entries", "expected", "notes", "receipts", "taken")

    def __init__(self, expected: int, at: int, birth: Birth | None = None) -> None:
        self.expected, self.at, self.birth = expected, at, birth
        self.entries: list[Entry] = []
        self.taken: list[str] = []
        self.notes: list[Notes] = []
        self.begun: list[tuple[Task, Any]] = []  # tasks that begin once it is stored
        self.receipts: list[Receipt] = []  # one for every letter


class Tree:
    """A root actor and what is known of its journal."""

    def __init__(
        self,
        root: str,
        machine: AnyMachine,
        birth: Birth,
        epoch: int,
        snapshot_every: int = SNAPSHOT_ENTRIES,
    ) -> None:
        self.root, self.machine, self.birth, self._snapshot_every = root, machine, birth, snapshot_every
        self.seq, self.snapshot_seq, self.snapshot_size, self.size = 0, 0, 0, 0
        self.host = TreeHost(root, birth.incarnation, epoch)
        self.actor: Actor[Any, Any] = None  # type: ignore[assignment]
        self.posted: dict[str, Letter] = {}  # stored letters whose time has not come, by id
        self.queued: set[str] = set()  # letters that wait to be taken, by id
        self.taken: set[str] = set()  # letters that were taken and not stored as such yet, by id

    # -- coming to be --------------------------------------------------------------------------------------------

    def enter(self, now: int) -> Batch:
        """Begin: the first step."""
        batch = Batch(0, now, self.birth)
        self.host.begin(1, now)
        self._make(None)
        self._note(batch, now, "", {"type": "xstate.init", "input": self.birth.input}, self.actor)
        return batch

    def recover(self, saved: Saved) -> None:
        """Be where the store says: its snapshot, then the journal after it, with what is still open."""
        if saved.snapshot is None:
            self.replay_all(saved.entries)
        else:
            self.host.silent = True  # the children's work began long ago
            self._make(saved.snapshot)
            self.host.silent = False
            for entry in saved.entries:
                self.replay(entry)
        self.seq, self.snapshot_seq = saved.seq, saved.snapshot_seq
        self.host.resume(saved.letters, saved.tasks)
        self.posted = {letter.id: letter for letter in saved.letters if letter.timer is None}

    def replay_all(self, entries: Sequence[Entry]) -> None:
        """Go through a journal from its beginning; what was open at its end is known afterwards."""
        first = entries[0]
        self.host.begin(first.seq, first.at)
        self._make(None)
        self.seq = first.seq
        for entry in entries[1:]:
            self.replay(entry)

    def replay(self, entry: Entry) -> None:
        """Take a step again as it was taken."""
        self.host.begin(entry.seq, entry.at)
        if entry.timer is not None:
            self.host.letters.pop(entry.timer, None)
        actor, task = actor_at(self.actor, entry.to), self.host.tasks.get(entry.to)
        if actor is not None:
            actor.system.relay(None, actor, entry.event)
        if entry.event["type"] in (RESOLVE, REJECT) and task is not None:
            self.host.finish(task)
        self.seq = entry.seq

    def migrate(self, machine: AnyMachine, now: int) -> Commit:
        """Go on with another version of the machine; gives what has to be stored."""
        assert machine.migrate is not None
        old = self.birth.version
        snapshot = machine.migrate(self.actor.get_persisted_snapshot(), old)
        self.become(machine, snapshot)
        event = {"type": MIGRATED, "from": old, "to": machine.version, "snapshot": snapshot}
        value = self.actor.snapshot.value
        entry = Entry(self.root, self.seq + 1, now, "", event, None, value)
        commit = Commit(self.root, self.seq, now, self.status, moved=self.birth, entries=(entry,), snapshot=snapshot)
        self.seq = self.snapshot_seq = entry.seq
        return commit

    def become(self, machine: AnyMachine, snapshot: Any) -> None:
        """Be at a snapshot of another version of the machine."""
        self.machine = machine
        self.birth = replace(self.birth, version=machine.version, hash=chart_hash(machine))
        self.host.silent = True
        self._make(snapshot)
        self.host.silent = False

    def _make(self, snapshot: Any) -> None:
        self.actor = Actor(
            self.machine,
            id=self.root,
            input=self.birth.input,
            snapshot=snapshot,
            host=self.host,
            clock=SimulatedClock(),
            logger=_silence,
            on_unhandled=self.host.unhandled,
        )
        self.actor.subscribe(None, lambda error: None)
        self.actor.system.quiet = snapshot is not None
        self.actor.start()
        self.actor.system.quiet = False

    # -- taking letters ------------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """The root's status."""
        status: str = self.actor.snapshot.status
        return status

    @property
    def output(self) -> Any:
        """What the root gave at its end."""
        snapshot = self.actor.snapshot
        if snapshot.status == "error":
            raise Failed(f"{self.root!r} has failed: {to_json_error(snapshot.error)}")
        return snapshot.output

    def batch(self, now: int) -> Batch:
        """A new, empty batch."""
        return Batch(self.seq, now)

    def knows(self, letter: str) -> bool:
        """Whether a letter was stored for this tree and has not become a step yet."""
        return letter in self.posted or letter in self.queued or letter in self.taken

    def due(self, now: int) -> list[Letter]:
        """The stored letters whose time has come and that nobody has queued yet, in order."""
        stored = (*self.host.letters.values(), *self.posted.values())
        found = [letter for letter in stored if letter.due <= now and letter.id not in self.queued]
        return sorted(found, key=lambda letter: (letter.due, letter.at, letter.id))

    @property
    def next_due(self) -> int | None:
        """When the next stored letter is due that nobody has queued yet."""
        stored = (*self.host.letters.values(), *self.posted.values())
        return min((letter.due for letter in stored if letter.id not in self.queued), default=None)

    def take(self, letter: Letter, now: int, batch: Batch) -> None:
        """Take a letter, unless it has been overtaken by what happened since it was sent."""
        id, _, event, _, due, to, _, timer, task, _ = letter
        self.queued.discard(id)
        if self.posted.pop(id, None) is not None or timer is not None:
            batch.taken.append(id)
            self.taken.add(id)
        actor = actor_at(self.actor, to) if to else self.actor
        if actor is None or not actor.is_running or not self._is_current(letter):
            batch.receipts.append(self._rejection(letter, actor))
            return
        if timer is not None:
            event = {**event, "due": due}
            self.host.letters.pop(id, None)
        outside = id if task is None and timer is None else None
        if self._step(batch, now, to, actor, event, id == task, outside, None if timer is None else id):
            batch.receipts.append(Receipt("accepted", id, self.seq))
        else:
            batch.receipts.append(self._rejection(letter, actor))

    def take_answers(self, ask: Ask, batch: Batch, most: int) -> None:
        """Take what eager functions answer at once as steps of the same batch, but not more than so many."""
        asked, running = 0, self.host.tasks
        for notes in batch.notes:  # which grows by what the answers ask for
            for task, logic, actor in notes.started:
                if logic.eager and asked < most and running.get(task.to) is task:
                    asked += 1
                    event = ask(task, logic)
                    if event is not None:
                        self._step(batch, batch.at, task.to, actor, event, True)

    def _step(
        self,
        batch: Batch,
        now: int,
        to: str,
        actor: Actor[Any, Any],
        event: Any,
        is_last: bool,
        outside: str | None = None,
        timer: str | None = None,
    ) -> bool:
        """Let an actor take an event, the last one of its task or another; false if nothing came of it."""
        host = self.host
        host.begin(self.seq + 1, now)
        before: Any = actor.snapshot
        task = host.tasks.get(to) if is_last else None
        actor.system.relay(None, actor, event)
        if task is not None:
            host.finish(task)
        if host.is_unhandled and actor.snapshot is before:
            return False
        self._note(batch, now, to, event, actor, before, outside, timer)
        return True

    def _is_current(self, letter: Letter) -> bool:
        if letter.task is not None:
            task = self.host.tasks.get(letter.sender)
            return task is not None and task.id == letter.task and task.attempt == letter.attempt
        return letter.timer is None or letter.id in self.host.letters

    def _rejection(self, letter: Letter, actor: Any) -> Receipt:
        snapshot = None if actor is None else actor.snapshot
        can = acceptable_events(snapshot) if isinstance(snapshot, Snapshot) and actor.is_running else ()
        return Receipt("rejected", letter.id, self.seq, can)

    def _note(
        self,
        batch: Batch,
        now: int,
        to: str,
        event: Any,
        actor: Actor[Any, Any],
        before: Any = None,
        outside: str | None = None,
        timer: str | None = None,
    ) -> None:
        """Add a step of an actor to a batch; `outside` is the letter it took if that came from there."""
        self.seq += 1
        host = self.host
        # Of one that is gone, it is told where the root stands.
        after: Any = (actor if actor.is_running else self.actor).snapshot
        value = after.value if _is_elsewhere(after, before) else None
        status: str | None = after.status
        if before is not None and status == before.status:
            status = None
        emitted: tuple[Any, ...] = ()
        if host.has_notes:
            notes = host.notes
            emitted = tuple(notes.emitted)
            batch.notes.append(notes)
        self.size += _rough_size(event)
        batch.entries.append(Entry(self.root, self.seq, now, to, event, outside, value, status, emitted, timer))

    def commit(self, batch: Batch) -> Commit:
        """What storing a batch changes."""
        status = self.status
        snapshot = self._snapshot_if_due(status) if batch.entries else None
        entries, taken = tuple(batch.entries), tuple(batch.taken)
        if not batch.notes:
            return Commit(
                self.root, batch.expected, batch.at, status, batch.birth, None, entries, taken, snapshot=snapshot
            )
        ended = self._settle(batch)
        cancelled = {id for notes in batch.notes for id in notes.cancelled}
        letters = [letter for notes in batch.notes for letter in notes.timers if letter.id not in cancelled]
        return Commit(
            self.root,
            batch.expected,
            batch.at,
            status,
            batch.birth,
            None,
            entries,
            (*taken, *sorted(cancelled)),
            tuple(letters),
            tuple([_kept(task) for task, _ in batch.begun]),
            tuple(ended),
            snapshot,
        )

    def _settle(self, batch: Batch) -> list[str]:
        """Find the tasks that are to begin, and those that are over, without those that are both: nobody could have
        left them behind."""
        running, ended = self.host.tasks, []
        gone: set[str] = set()
        for notes in batch.notes:
            ended += notes.ended
            for task, logic, _ in notes.started:
                if running.get(task.to) is task:
                    batch.begun.append((task, logic))
                else:
                    gone.add(task.id)
        return [id for id in ended if id not in gone] if gone else ended

    def _snapshot_if_due(self, status: str) -> Any:
        since = self.seq - self.snapshot_seq
        worth_it = since >= self._snapshot_every and self.size >= self.snapshot_size
        if not (worth_it or since >= SNAPSHOT_LIMIT or status != "active"):
            return None
        text = encoded(self.actor.get_persisted_snapshot())
        self.snapshot_seq, self.size, self.snapshot_size = self.seq, 0, len(text)
        return Encoded(text)


def _is_elsewhere(after: Any, before: Any) -> bool:
    """Whether a machine is in other states than before; actors of other kinds are nowhere."""
    if not isinstance(after, Snapshot):
        return False
    if not isinstance(before, Snapshot):
        return True
    one, other = after.configuration, before.configuration
    return one is not other and bool(one.shared_value != other.shared_value)


def _kept(task: Task) -> Task:
    """A task as it is stored: only one that may be begun again needs what it was given, which may be much."""
    if task.safety == "repeat":
        return task
    return Task(task.id, task.root, task.to, task.src, None, task.safety, task.attempt, task.epoch)


def _rough_size(event: Mapping[str, Any]) -> int:
    """About how much room an event takes in the journal."""
    size = 64
    for value in event.values():
        size += len(value) if isinstance(value, str) else 16
    return size


def _silence(*values: Any) -> None:
    """Machines do not write to the terminal of whoever hosts them."""
