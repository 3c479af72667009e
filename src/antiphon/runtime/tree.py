"""Trees: a root actor with all its descendants, which takes letters and is stored as one unit."""

# A tree is the unit of everything durable. It has one journal with one sequence of steps, one snapshot, and one place
# in the store that is fenced by its sequence number. Its actors talk to each other within a step, synchronously;
# nothing outside can reach one of them except by a letter to the tree.
#
# What happens to a letter:
# 1. Letter. `loop.py` draws letters from the inbox of the tree and calls `take` for each, with one time for the whole
#    turn. A letter that came too late (its actor has ended, its task was restarted, its timer was cancelled) is
#    rejected without a step, and so is one from outside whose event its recipient does not declare (`admission.py`).
# 2. Step. `take` relays the event to its actor, which runs to completion together with every actor it reaches. Actors
#    perform nothing: they ask their host, and the host of a tree (`recording_host.py`) only records what they ask for.
#    The step becomes an `Entry` in the `Batch` of the turn, with the recorded effects beside it. If no transition
#    takes the event, there is no entry, and the letter is rejected.
# 3. Answers. Functions declared `eager` are called by `take_answers`, and their results are further steps of the batch.
#    They only compute, so it does no harm if the batch is never stored.
# 4. Commit. `commit` turns the batch into one `Commit`: entries in, letters taken out, timers and tasks in, ended tasks
#    out, perhaps a snapshot. The store applies all of it or nothing, and only if the tree is still at the sequence
#    that the batch started from.
# 5. Effects. Only after the commit is durable does `effects.py` resolve receipts, cancel and start tasks, call users'
#    actions, set alarms for timers and publish the entries. A crash before the commit loses a step that was never
#    acknowledged. A crash after it loses effects: the next process finds tasks and timers in the store, a sender that
#    repeats its letter is told that it is a duplicate, and users' actions are performed at most once.
#
# Why a tree in memory is only a cache:
# Steps change the actors before they are stored. When a step raises, or its commit fails, it cannot be undone, and need
# not be: the tree is discarded, and the next letter loads it from the store. `restore` starts from the last snapshot
# and replays the entries after it. Replaying gives the same state because everything that could differ comes with the
# entry: the event, the time, and the sequence number that ids of tasks and timers are made of. Trees that were evicted
# from the cache, trees of a process that died, and trees at an earlier step (`time_travel.py`) come back the same way.
#
# Invariants:
# - `seq` counts the steps computed. Between turns it equals the stored sequence; during a turn it is ahead by the
#   entries of the batch. A tree whose turn is not stored takes no letters and is not shown (`Inboxes.is_busy`).
# - `host.letters` and `host.tasks` are the timers and tasks that are open after step `seq`. Replaying the journal
#   yields the same two, and so does the store.
# - A stored letter is in `posted` (a timer: in `host.letters`) until it is taken, meanwhile also in `queued` once it is
#   in the inbox in memory, and in `taken` from its step until the commit; after that the journal has it. So a duplicate
#   is always recognised.
# - Letters and receipts of a batch are in the same order. So after an exception the number of receipts says which
#   letter caused it.
# - While `host.silent` is set nothing is recorded: the effects of a restored snapshot were recorded when it was made.
#
# Why records are taken apart by position:
# `take`, `_step`, `_record` and `commit` run for every letter. Here, letters are unpacked and entries, receipts and
# commits are created by position, in the order of `records.py`: a record takes more than twice as long to create with
# keyword arguments, and `bench/durable` counts in microseconds. Elsewhere fields are named.

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from antiphon.actors.actor import Actor
from antiphon.chart.persist import to_json_error
from antiphon.runtime.admission import acceptable_events, copy_value, find_problem, public_events, view_value
from antiphon.runtime.batch import Batch
from antiphon.runtime.encoding import Encoded, encode, encode_checked, estimate_size
from antiphon.runtime.errors import Failed, LoadFailed, StepFailed
from antiphon.runtime.index.projection import NO_PROJECTION, UNCHANGED, Projector
from antiphon.runtime.machines import AnyMachine, chart_hash
from antiphon.runtime.paths import actor_at
from antiphon.runtime.recording_host import RecordingHost
from antiphon.runtime.records import Commit, Entry, Letter, Origin, Receipt, Rejection, RootState, Saved, Task
from antiphon.runtime.replay.comparison import ReplayCheck, outcome_of

Answer = Callable[[Task, Any], Any]  # calls an eager function; returns the event with its result, or None
MIGRATED = "antiphon.migrated"
# A snapshot is due after this many entries if replaying them would cost more than writing it, and after
# `SNAPSHOT_LIMIT` entries in any case.
SNAPSHOT_ENTRIES = 100
SNAPSHOT_LIMIT = 1000


class Tree:
    """A root actor with its descendants, and its place in the journal."""

    def __init__(
        self,
        root: str,
        machine: AnyMachine,
        origin: Origin,
        boot: int,
        snapshot_every: int = SNAPSHOT_ENTRIES,
        release: str | None = None,
        projector: Projector = NO_PROJECTION,
    ) -> None:
        self.root = root
        self.machine = machine
        self.origin = origin
        self.renewed: Origin | None = None  # with the hash of today, until it is stored
        self._snapshot_every = snapshot_every
        self.projector = projector.of(machine.id)
        self._is_indexed = self.projector.is_covered
        self.on_replay: Callable[[Entry], None] | None = None  # called after each step that is replayed
        self.seq = 0
        self.snapshot_seq = 0
        self.snapshot_size = 0
        self.size = 0  # estimated size of the entries since the last snapshot
        self._has_release = False  # True once an entry since the last snapshot names the release
        self.host = RecordingHost(root, origin.history, boot, release)
        self._check = ReplayCheck(self.host.release)
        self.differences = self._check.differences  # that were accepted when the journal was replayed
        self.warnings = self._check.warnings  # their texts
        self.wants_snapshot = False  # the next commit has one, so that differences are not replayed again
        self.actor: Actor[Any, Any] = None  # type: ignore[assignment]
        self.posted: dict[str, Letter] = {}  # stored letters that were not taken yet, by id; without timers
        self.queued: set[str] = set()  # stored letters, timers included, that are in the inbox in memory, by id
        self.taken: set[str] = set()  # stored letters whose step is not stored yet, by id

    def start(self, now: int) -> Batch:
        """Take the first step of a new tree."""
        batch = Batch(0, now, self.origin)
        self.host.begin(1, now)
        self._create_actor(None)
        if not self.actor.is_running:
            self._check_end("")
        self._record(batch, now, "", {"type": "xstate.init", "input": self.origin.input}, self.actor)
        return batch

    def restore(self, saved: Saved, accept: bool = False) -> None:
        """Restore the stored state: the snapshot, the entries after it, and open letters and tasks.

        Raise `ReplayDiffers` if an entry gives something else than it did, unless differences are accepted.
        """
        if saved.snapshot is None:
            self.replay_all(saved.entries, accept)
        else:
            self.host.silent = True  # the tasks of its children were started earlier
            self._create_actor(saved.snapshot)
            self.host.silent = False
            for entry in saved.entries:
                self.replay(entry, accept)
        if saved.status == "active" != self.status:
            error = self.actor.snapshot.error
            cause = error if isinstance(error, BaseException) else None
            raise LoadFailed(f"{self.root!r} was stored as active, but restored as {self.status}: {error!r}") from cause
        self.wants_snapshot = bool(self.warnings)
        self.seq = saved.seq
        self.snapshot_seq = saved.snapshot_seq
        if self.origin.hash != chart_hash(self.machine):  # an earlier release computed it; see `machines.py`
            self.origin = self.renewed = replace(self.origin, hash=chart_hash(self.machine))
        self.host.resume(saved.letters, saved.tasks)
        self.posted = {letter.id: letter for letter in saved.letters if letter.timer is None}

    def replay_all(self, entries: Sequence[Entry], accept: bool = False) -> None:
        """Replay a journal from its beginning; afterwards the host has the timers and tasks that were open."""
        first = entries[0]
        self.host.begin_again(first.seq, first.at)
        self._create_actor(None)
        self.seq = first.seq
        self._compare(first, self.actor, None, accept)
        for entry in entries[1:]:
            self.replay(entry, accept)

    def replay(self, entry: Entry, accept: bool = False) -> None:
        """Repeat a step of the journal; raise `ReplayDiffers` if it gives something else, unless that is accepted."""
        self.host.begin_again(entry.seq, entry.at)
        if entry.timer is not None:
            self.host.letters.pop(entry.timer, None)
        actor = actor_at(self.actor, entry.to)
        task = self.host.tasks.get(entry.to)
        before = None if actor is None else actor.snapshot
        if actor is not None:
            actor.system.relay(None, actor, entry.event)
        if task is not None:
            self.host.finish_by(entry.event, task)
        self.seq = entry.seq
        self._compare(entry, actor, before, accept)

    def _compare(self, entry: Entry, actor: Actor[Any, Any] | None, before: Any, accept: bool) -> None:
        """Compare the step that was just replayed with its entry."""
        if self.on_replay is not None:
            self.on_replay(entry)
        after = None if actor is None else (actor if actor.is_running else self.actor).snapshot
        changes = None if entry.digest is None else self.host.changes()
        self._check.compare(entry, before, after, changes, accept)

    def migrate(self, machine: AnyMachine, now: int) -> Commit:
        """Continue with another version of the machine; return the commit that stores the migration."""
        assert machine.migrate is not None
        old = self.origin.version
        before = self.projector.view(self.actor)
        snapshot = machine.migrate(copy_value(self.actor.get_persisted_snapshot()), old)
        self._switch_version(machine, snapshot)
        if self.status == "error":
            error = self.actor.snapshot.error
            cause = error if isinstance(error, BaseException) else None
            raise LoadFailed(f"the migration to version {machine.version!r} ends {self.root!r} in an error") from cause
        work = self.host.open_work(now)
        event = {"type": MIGRATED, "from": old, "to": machine.version, "snapshot": snapshot, "open": work}
        value = self.actor.snapshot.value
        entries = (Entry(self.root, self.seq + 1, now, "", event, None, value, release=self.host.release),)
        details = {"migrated": self.origin, "entries": entries, "snapshot": snapshot, "open": work}
        index = self.projector.project(before, self.actor, entries[0])
        version = self.projector.version
        commit = Commit(self.root, self.seq, now, self.status, **details, index_change=index, projection=version)
        self.seq = commit.seq
        self.snapshot_seq = commit.seq
        self._has_release = False
        return commit

    def _switch_version(self, machine: AnyMachine, snapshot: Any) -> None:
        self.machine = machine
        self.origin = replace(self.origin, version=machine.version, hash=chart_hash(machine))
        self.renewed = None
        self.host.silent = True
        self._create_actor(snapshot)
        self.host.silent = False

    def _create_actor(self, snapshot: Any) -> None:
        self.actor = Actor(
            self.machine,
            id=self.root,
            input=self.origin.input,
            snapshot=snapshot,
            host=self.host,
            clock=self.host.clock,
            logger=_ignore_log,
            on_unhandled=self.host.unhandled,
        )
        self.actor.subscribe(None, lambda error: None)
        self.actor.system.quiet = snapshot is not None
        self.actor.start()
        self.actor.system.quiet = False

    @property
    def status(self) -> str:
        """Status of the root."""
        status: str = self.actor.snapshot.status
        return status

    @property
    def output(self) -> Any:
        """Output of the root."""
        snapshot = self.actor.snapshot
        if snapshot.status == "error":
            raise Failed(f"{self.root!r} has failed: {to_json_error(snapshot.error)}")
        return snapshot.output

    @property
    def root_state(self) -> RootState:
        """State of the root actor."""
        snapshot = self.actor.snapshot
        children = {id: getattr(child.get_snapshot(), "value", None) for id, child in snapshot.children.items()}
        return RootState(self.seq, snapshot.status, snapshot.value, snapshot.context, children)

    def copy_output(self) -> Any:
        """Return a copy of the output of the root."""
        return copy_value(self.output)

    def view(self, *, copy: bool = False) -> Any:
        """Return the snapshot as JSON: a read-only view, or a copy."""
        return view_value(self.actor.get_persisted_snapshot(), copy=copy)

    def can(self, to: str) -> tuple[str, ...]:
        """Return the types of the events from outside that an actor takes, with some keys."""
        return public_events(actor_at(self.actor, to))

    def new_batch(self, now: int) -> Batch:
        """Return an empty batch for the next turn."""
        return Batch(self.seq, now)

    def has_letter(self, letter: str) -> bool:
        """Return whether a letter was stored for this tree and is not in its stored journal yet."""
        return letter in self.posted or letter in self.queued or letter in self.taken

    def due_letters(self, now: int) -> list[Letter]:
        """Return the stored letters that are due and not queued yet, in order."""
        stored = (*self.host.letters.values(), *self.posted.values())
        due = [letter for letter in stored if letter.due <= now and letter.id not in self.queued]
        return sorted(due, key=lambda letter: (letter.due, letter.at, letter.id))

    @property
    def next_due(self) -> int | None:
        """Time at which the next stored letter that is not queued yet is due."""
        stored = (*self.host.letters.values(), *self.posted.values())
        return min((letter.due for letter in stored if letter.id not in self.queued), default=None)

    def take(self, letter: Letter, now: int, batch: Batch) -> None:
        """Take a letter as a step of a batch, or reject it if it came too late or no transition takes it."""
        id, _, event, _, due, to, _, timer, task, _, _, _ = letter
        self.queued.discard(id)
        is_posted = self.posted.pop(id, None) is not None
        if is_posted or timer is not None:
            batch.taken.append(id)
            self.taken.add(id)
        actor = actor_at(self.actor, to) if to else self.actor
        outside = id if task is None and timer is None else None
        if actor is None or not actor.is_running or (outside is None and not self._is_current(letter)):
            self._reject(letter, actor, batch, is_posted)
            return
        if timer is not None:
            event = {**event, "due": due}
            self.host.letters.pop(id, None)
        if outside is not None and find_problem(actor, event) is not None:
            self._reject(letter, actor, batch, is_posted, is_refused=True)
        elif self._step(batch, now, to, actor, event, id == task, outside, None if timer is None else id):
            batch.receipts.append(Receipt("accepted", id, self.seq, (), None, self.host.history))
        else:
            self._reject(letter, actor, batch, is_posted)

    def take_answers(self, answer: Answer, batch: Batch, limit: int) -> None:
        """Call eager functions, at most `limit` of them, and take their results as steps of the same batch."""
        count = 0
        running = self.host.tasks
        for effects in batch.effects:  # which grows by the effects of the answers
            for task, logic, actor in effects.started:
                if logic.eager and count < limit and running.get(task.to) is task:
                    count += 1
                    event = answer(task, logic)
                    if event is not None:
                        self._step(batch, batch.at, task.to, actor, event, True)

    def _step(
        self,
        batch: Batch,
        now: int,
        to: str,
        actor: Actor[Any, Any],
        event: Any,
        is_result: bool,
        outside: str | None = None,
        timer: str | None = None,
    ) -> bool:
        """Let an actor take an event, which may be the result of its task; return False if nothing came of it."""
        host = self.host
        host.begin(self.seq + 1, now)
        before: Any = actor.snapshot
        task = host.tasks.get(to) if is_result else None
        actor.system.relay(None, actor, event)
        if task is not None:
            host.finish(task)
        if actor.snapshot is before and host.is_unhandled(event, before):
            return False
        if not self.actor.is_running:
            self._check_end(outside)
        self._record(batch, now, to, event, actor, before, outside, timer)
        return True

    def _check_end(self, outside: str | None) -> None:
        """Raise `StepFailed` if a function has raised and ended the root.

        A task that was rejected and that no transition handles ends the root in an ordinary way.
        """
        snapshot = self.actor.snapshot
        if snapshot.status == "error" and (outside is not None or isinstance(snapshot.error, BaseException)):
            error = snapshot.error
            cause = error if isinstance(error, BaseException) else None
            raise StepFailed(f"the step would end {self.root!r} in an error: {to_json_error(error)}") from cause

    def _is_current(self, letter: Letter) -> bool:
        """Return whether the task or timer that a letter comes from is still open."""
        if letter.task is not None:
            task = self.host.tasks.get(letter.sender)
            return task is not None and task.id == letter.task and task.attempt == letter.attempt
        return letter.timer is None or letter.id in self.host.letters

    def _reject(self, letter: Letter, actor: Any, batch: Batch, is_posted: bool, *, is_refused: bool = False) -> None:
        """Add the receipt of a letter that is not taken; of a stored one, the outcome is stored."""
        can = acceptable_events(actor)
        problem = find_problem(actor, letter.event) if is_refused else None
        error = None if problem is None else problem.text
        batch.receipts.append(Receipt("rejected", letter.id, self.seq, can, error, self.host.history, problem))
        if is_posted and letter.task is None:
            batch.rejected.append(Rejection(letter.id, self.seq, can, problem))

    def _record(
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
        """Add a step of an actor to a batch; `outside` is the id of a letter from outside, `timer` of a delayed one."""
        host = self.host
        state = self.projector.before(self.actor, host.previous) if self._is_indexed else UNCHANGED
        digest = host.changes().digest
        self.seq += 1
        # If the step ended the actor, the entry has the state of the root.
        value, status = outcome_of(before, (actor if actor.is_running else self.actor).snapshot)
        release = None if self._has_release else host.release
        self._has_release = True
        emitted: tuple[Any, ...] = ()
        if host.has_effects:
            effects = host.effects
            emitted = tuple(effects.emitted)
            effects.seq = self.seq
            batch.effects.append(effects)
        self.size += estimate_size(event)
        entry = Entry(self.root, self.seq, now, to, event, outside, value, status, emitted, timer, digest, release)
        batch.entries.append(entry)
        if state is not UNCHANGED:
            batch.add_change(self.projector.project(state, self.actor, entry))

    def commit(self, batch: Batch, mark: int) -> Commit:
        """Return the commit that stores a batch."""
        status = self.status
        snapshot, work = self._snapshot_if_due(status, batch.at) if batch.entries else (None, None)
        entries = tuple(batch.entries)
        taken = tuple(batch.taken)
        index = None if batch.index is None else batch.index_change
        new = self.renewed
        if new is not None and entries:
            self.renewed = None  # if this commit fails, the tree is discarded
        version = self.projector.version if entries else None
        place = (self.root, batch.expected, batch.at, status, batch.origin, new, entries)
        details = (tuple(batch.rejected), (), None, self.host.boot, work, index, version)
        if not batch.effects:
            return Commit(*place, taken, (), (), (), snapshot, (), mark, *details)
        ended = tuple(batch.sort_tasks(self.host.tasks))
        cancelled = {id for effects in batch.effects for id in effects.cancelled}
        timers = [letter for effects in batch.effects for letter in effects.timers if letter.id not in cancelled]
        taken = (*taken, *sorted(cancelled))
        return Commit(*place, taken, tuple(timers), batch.stored_tasks(), ended, snapshot, (), mark, *details)

    def commit_snapshot(self, now: int) -> Commit:
        """Return a commit that stores the tree as it is now, without a step; its rows may be out of date."""
        self.wants_snapshot = True
        snapshot, work = self._snapshot_if_due(self.status, now)
        return Commit(self.root, self.seq, now, self.status, snapshot=snapshot, open=work, projection=0)

    def _snapshot_if_due(self, status: str, at: int) -> tuple[Encoded | None, Encoded | None]:
        since = self.seq - self.snapshot_seq
        worth_it = since >= self._snapshot_every and self.size >= self.snapshot_size
        if not (worth_it or since >= SNAPSHOT_LIMIT or status != "active" or self.wants_snapshot):
            return None, None
        text = encode_checked(self.actor.get_persisted_snapshot())
        work = encode(self.host.open_work(at))
        self.snapshot_seq = self.seq
        self.wants_snapshot = False
        self._has_release = False
        self.size = 0
        self.snapshot_size = len(text) + len(work)
        return Encoded(text), Encoded(work)


def _ignore_log(*values: Any) -> None:
    """Discard what machines log: they do not write to the terminal of their host."""
