"""What was seen during a simulation, and the laws that can be checked while it happens."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from antiphon.runtime.records import Commit, Entry, Letter, Receipt, Task


@dataclass(frozen=True, slots=True)
class Execution:
    """A task that really ran."""

    task: Task
    process: int


class History:
    """Everything that was stored, performed, acknowledged and shown; `broken` says which laws were not kept."""

    def __init__(self) -> None:
        self.journals: dict[str, list[Entry]] = {}
        self.tasks: dict[str, Task] = {}
        self.ends: dict[str, str] = {}
        self.timers: dict[str, Letter] = {}
        self.fired: set[str] = set()
        self.receipts: dict[tuple[str, str], Receipt] = {}
        self.posted: set[tuple[str, str]] = set()
        self.executions: list[Execution] = []
        self.executing: dict[tuple[str, int], Execution] = {}
        self.fed: dict[str, int] = {}
        self.counts: Counter[str] = Counter()
        self.broken: list[str] = []

    def stored(self, commits: Sequence[Commit], wall: int) -> None:
        """Commits were stored."""
        for commit in commits:
            journal = self.journals.setdefault(commit.root, [])
            for entry in commit.entries:
                self._appended(journal, entry, wall)
            self.timers.update({letter.id: letter for letter in commit.letters if letter.timer is not None})
            self.tasks.update({task.id: task for task in commit.tasks})
            for id, state in commit.ended:
                if id in self.ends:
                    self.broken.append(f"task {id} ended as {self.ends[id]}, and then as {state}")
                self.ends[id] = state

    def _appended(self, journal: list[Entry], entry: Entry, wall: int) -> None:
        if entry.seq != len(journal) + 1:
            self.broken.append(f"{entry.root}: entry {entry.seq} follows {len(journal)}")
        journal.append(entry)
        self.counts["steps"] += 1
        if entry.timer is None:
            return
        letter = self.timers.get(entry.timer)
        self.counts["timers fired"] += 1
        if entry.timer in self.fired:
            self.broken.append(f"{entry.root}: timer {entry.timer} fired twice")
        if letter is None:
            self.broken.append(f"{entry.root}: timer {entry.timer} fired and was never set")
        elif wall < letter.due or entry.at < letter.due:
            self.broken.append(f"{entry.root}: timer {entry.timer} fired {letter.due - wall} ms early")
        self.fired.add(entry.timer)

    def began(self, task: Task, process: int) -> None:
        """A task began to run."""
        execution = Execution(task, process)
        if task.id not in self.tasks:
            self.broken.append(f"task {task.id} runs, but was never stored")
        if any(past.task.id == task.id and past.task.attempt == task.attempt for past in self.executions):
            self.broken.append(f"attempt {task.attempt} of task {task.id} ran twice")
        elif task.safety != "repeat" and task.attempt > 1:
            self.broken.append(f"task {task.id}, of class {task.safety}, was run again")
        self.executions.append(execution)
        self.executing[task.id, task.attempt] = execution

    def finished(self, task: Task) -> None:
        """A task runs no more."""
        self.executing.pop((task.id, task.attempt), None)

    def died(self, process: int) -> list[Task]:
        """A process died; gives the tasks it was at."""
        gone = [execution.task for execution in self.executing.values() if execution.process == process]
        for task in gone:
            self.finished(task)
        return gone

    def acknowledged(self, root: str, receipt: Receipt, by_post: bool) -> None:
        """Whoever sent a letter was told what became of it."""
        key = root, receipt.letter
        self.counts[f"letters {receipt.status}"] += 1
        if by_post and receipt.status == "accepted":
            return  # the store has it, and will say so when it is taken
        if receipt.status != "duplicate":
            before = self.receipts.get(key)
            if before is not None and before.status == "accepted":
                self.broken.append(
                    f"{root}: letter {receipt.letter} was accepted twice, at {before.seq} and {receipt.seq}"
                )
            self.receipts[key] = receipt
        elif key not in self.receipts:
            self.receipts[key] = receipt

    def shown(self, root: str, entry: Entry) -> None:
        """A reader of a feed was given an entry."""
        last = self.fed.get(root, 0)
        journal = self.journals.get(root, [])
        if entry.seq != last + 1:
            self.broken.append(f"{root}: the feed gave {entry.seq} after {last}")
        elif entry.seq > len(journal) or journal[entry.seq - 1] != entry:
            self.broken.append(f"{root}: the feed gave {entry.seq}, which is not what was stored")
        self.fed[root] = entry.seq
