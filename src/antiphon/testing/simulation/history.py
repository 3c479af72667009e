"""History of a simulation, and the laws that can be checked while it runs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from antiphon.runtime.quarantine import QUARANTINED
from antiphon.runtime.records import Commit, Entry, Letter, Receipt, Task

ROUNDING_MS = 1
# The facts that a restored backup takes back.
PAST = (
    "journals",
    "tasks",
    "ended",
    "timers",
    "fired",
    "applied",
    "posted",
    "dead",
    "quarantined",
    "executions",
    "performed",
)
PATIENCE_MS = 120_000  # clocks run slower after they were set back, and not all of it is known after a restart


@dataclass(frozen=True, slots=True)
class Execution:
    """Execution of a task by a process."""

    task: Task
    process: int


class History:
    """Everything that was stored, performed, acknowledged and published; `broken` lists violations of the laws."""

    def __init__(self) -> None:
        self.journals: dict[str, list[Entry]] = {}
        self.tasks: dict[str, Task] = {}
        self.ended: set[str] = set()
        self.timers: dict[str, Letter] = {}
        self.set_at: dict[str, int] = {}  # when timers were set, in the time of the simulation
        self.fired: set[str] = set()
        self.applied: dict[tuple[str, str], int] = {}
        self.posted: set[tuple[str, str]] = set()
        self.dead: set[tuple[str, str]] = set()  # letters that were a dead letter at some time
        self.quarantined: set[str] = set()
        self.acknowledged: dict[str, list[str]] = {}  # letters whose post was accepted, in order, by tree
        self.sent_after: dict[tuple[str, str], tuple[str, ...]] = {}  # letters, and those acknowledged before
        self.executions: list[Execution] = []
        self.executing: dict[tuple[str, int], Execution] = {}
        self.fed: dict[str, int] = {}
        self.performed: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.broken: list[str] = []
        self.given: set[str] = set()  # ids of tasks and timers, of all pasts
        self.lost: set[str] = set()  # histories that ended when a backup was restored
        self.stale: set[str] = set()  # trees whose reader has steps of a lost past

    def remember(self) -> dict[str, Any]:
        """Return the present as a past to return to."""
        past = {name: copy(getattr(self, name)) for name in PAST}
        return {**past, "journals": {root: list(journal) for root, journal in self.journals.items()}}

    def return_to(self, past: dict[str, Any], lost: set[str]) -> None:
        """Forget everything after a backup that was restored; `lost` are the histories that it ends."""
        self.lost |= lost
        for name in PAST:
            setattr(self, name, copy(past[name]))
        self.journals = {root: list(journal) for root, journal in past["journals"].items()}
        for root, seq in self.fed.items():
            if seq > len(self.journals[root]):
                self.fed[root] = len(self.journals[root])
                self.stale.add(root)

    def record_commits(self, commits: Sequence[Commit], wall: int, at: int) -> None:
        """Record commits stored at a time of the simulation, with the latest wall clock time that timers may know."""
        for commit in commits:
            journal = self.journals.setdefault(commit.root, [])
            self._record_failures(commit)
            for entry in commit.entries:
                self._record_entry(journal, entry, wall)
            timers = {letter.id: letter for letter in commit.letters if letter.timer is not None}
            tasks = {task.id: task for task in commit.tasks}
            self._record_ids({*timers} - {*self.timers} | {*tasks} - {*self.tasks})
            self.timers.update(timers)
            self.set_at.update(dict.fromkeys(timers, at))
            self.tasks.update(tasks)
            for id in commit.ended:
                if id in self.ended:
                    self.broken.append(f"task {id} ended twice")
                self.ended.add(id)

    def _record_failures(self, commit: Commit) -> None:
        """Record dead letters and quarantined trees; a step that failed leaves nothing else."""
        self.dead |= {(commit.root, letter.id) for letter, _ in commit.dead}
        if commit.dead and (commit.entries or commit.letters or commit.tasks or commit.ended):
            self.broken.append(f"{commit.root}: a failed step was stored beside its dead letter")
        if commit.status == "error":
            self.broken.append(f"{commit.root}: ended in an error")
        if commit.entries and commit.root in self.quarantined:
            self.broken.append(f"{commit.root}: took a step while it was quarantined")
        if commit.status == QUARANTINED:
            self.quarantined.add(commit.root)
        else:
            self.quarantined.discard(commit.root)

    def _record_ids(self, ids: set[str]) -> None:
        """Record the ids of new tasks and timers."""
        self.broken += [f"{id} was given to a task or timer of another past too" for id in sorted(ids & self.given)]
        self.given |= ids

    def _record_entry(self, journal: list[Entry], entry: Entry, wall: int) -> None:
        if entry.seq != len(journal) + 1:
            self.broken.append(f"{entry.root}: entry {entry.seq} follows {len(journal)}")
        journal.append(entry)
        self.counts["steps"] += 1
        if entry.letter is not None:
            if (entry.root, entry.letter) in self.applied:
                self.broken.append(f"{entry.root}: letter {entry.letter} was applied twice")
            self.applied[entry.root, entry.letter] = entry.seq
        if entry.timer is not None:
            self._record_timer(entry, entry.timer, wall)

    def _record_timer(self, entry: Entry, id: str, wall: int) -> None:
        letter = self.timers.get(id)
        self.counts["timers fired"] += 1
        if id in self.fired:
            self.broken.append(f"{entry.root}: timer {id} fired twice")
        if letter is None:
            self.broken.append(f"{entry.root}: timer {id} fired and was never set")
        elif wall + ROUNDING_MS < letter.due or entry.at < letter.due:
            self.broken.append(f"{entry.root}: timer {id} fired {letter.due - wall} ms early")
        self.fired.add(id)

    def record_correction(self, lead: int) -> None:
        """Record that all waiting letters were moved back."""
        self.counts["letters moved back"] += 1
        for id in self.timers.keys() - self.fired:
            letter = self.timers[id]
            self.timers[id] = letter._replace(at=letter.at - lead, due=letter.due - lead)

    def late_timers(self, letters: Iterable[Letter], at: int) -> list[str]:
        """Return a description of each letter whose timer has been set for longer than its delay allows."""
        waits = [(letter, at - self.set_at[letter.id]) for letter in letters if letter.id in self.set_at]
        return [
            f"{letter.root}: timer {letter.id} of {letter.due - letter.at} ms was set {wait} ms ago"
            for letter, wait in waits
            if wait > (letter.due - letter.at) * 1.2 + PATIENCE_MS
        ]

    def record_start(self, task: Task, process: int) -> None:
        """Record the start of a task."""
        execution = Execution(task, process)
        if task.id not in self.tasks:
            self.broken.append(f"task {task.id} runs, but was never stored")
        if any(earlier.task.id == task.id and earlier.task.attempt == task.attempt for earlier in self.executions):
            self.broken.append(f"attempt {task.attempt} of task {task.id} ran twice")
        elif task.safety != "repeat" and task.attempt > 1:
            self.broken.append(f"task {task.id}, of class {task.safety}, was run again")
        self.executions.append(execution)
        self.executing[task.id, task.attempt] = execution

    def record_end(self, task: Task) -> None:
        """Record the end of a task."""
        self.executing.pop((task.id, task.attempt), None)

    def record_death(self, process: int) -> list[Task]:
        """Record the death of a process; return the tasks that it was running."""
        orphans = [execution.task for execution in self.executing.values() if execution.process == process]
        for task in orphans:
            self.record_end(task)
        return orphans

    def record_sending(self, root: str, id: str) -> None:
        """Record that a letter is about to be sent: those that were acknowledged before come before it."""
        self.sent_after.setdefault((root, id), tuple(self.acknowledged.get(root, ())))

    def overtaken(self) -> list[str]:
        """Return a description of each letter that was taken before one that was acknowledged before it was sent."""
        taken = {key: seq for key, seq in self.applied.items() if key not in self.dead}
        return [
            f"{root}: letter {id} was taken at {taken[root, id]}, before {earlier}, which was acknowledged before"
            for (root, id), acknowledged in self.sent_after.items()
            for earlier in acknowledged
            if taken.get((root, id), 0) < taken.get((root, earlier), 0) and (root, id) in taken
        ]

    def record_receipt(self, root: str, receipt: Receipt, by_post: bool) -> None:
        """Record the receipt of a letter; one of a lost past proves nothing any more."""
        if receipt.history in self.lost:
            return
        id = receipt.letter
        seq = self.applied.get((root, id))
        self.counts[f"letters {receipt.status}"] += 1
        match receipt.status:
            case "accepted" if by_post:
                self.acknowledged.setdefault(root, []).append(id)
                if (root, id) not in self.posted:
                    self.broken.append(f"{root}: letter {id} was accepted by post, and is not stored")
            case "accepted":
                if seq != receipt.seq:
                    self.broken.append(f"{root}: letter {id} was accepted at {receipt.seq}, and is stored at {seq}")
            case "duplicate":
                if seq is None and (root, id) not in self.posted:
                    self.broken.append(f"{root}: letter {id} was called a duplicate, and is not stored")
                elif receipt.seq not in (0, seq):
                    self.broken.append(f"{root}: letter {id} was called a duplicate of {receipt.seq}, and is at {seq}")
            case "failed":
                if (root, id) not in self.dead:
                    self.broken.append(f"{root}: letter {id} has failed, and is not a dead letter")
            case "rejected":
                if seq is not None and seq <= receipt.seq:
                    self.broken.append(f"{root}: letter {id} was rejected at {receipt.seq}, and was applied at {seq}")

    def record_feed(self, root: str, entry: Entry) -> None:
        """Record an entry that a reader of a feed received."""
        last = self.fed.get(root, 0)
        journal = self.journals.get(root, [])
        if root in self.stale:
            self.broken.append(f"{root}: the feed gave {entry.seq} to a reader that has steps of a lost past")
        if entry.seq != last + 1:
            self.broken.append(f"{root}: the feed gave {entry.seq} after {last}")
        elif entry.seq > len(journal) or journal[entry.seq - 1] != entry:
            self.broken.append(f"{root}: the feed gave {entry.seq}, which is not what was stored")
        self.fed[root] = entry.seq

    def record_other_history(self, root: str, shared: int) -> None:
        """Record that a reader learned that its cursor is of another past, and which steps both surely have."""
        fed = self.fed.get(root, 0)
        if root not in self.stale:
            self.broken.append(f"{root}: a reader was sent back to {shared}, and its past was not lost")
        if shared > fed:
            self.broken.append(f"{root}: a reader was sent back to {shared}, and it shares {fed} steps")
        self.stale.discard(root)
        self.fed[root] = shared
