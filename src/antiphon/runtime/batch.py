"""Steps of one turn of a tree, before they are stored."""

from typing import Any

from antiphon.runtime.index.rows import IndexChange, merge_changes
from antiphon.runtime.recording_host import RecordedEffects
from antiphon.runtime.records import Entry, Origin, Receipt, Rejection, Task


class Batch:
    """Steps of a tree that are not stored yet."""

    __slots__ = ("at", "effects", "entries", "expected", "index", "origin", "receipts", "rejected", "starting", "taken")

    def __init__(self, expected: int, at: int, origin: Origin | None = None) -> None:
        self.expected = expected
        self.at = at
        self.origin = origin
        self.entries: list[Entry] = []
        self.taken: list[str] = []  # stored letters that are done with, by id
        self.effects: list[RecordedEffects] = []  # of the steps that requested any
        self.starting: list[tuple[Task, Any]] = []  # tasks to start once the batch is stored, with their logic
        self.receipts: list[Receipt] = []  # one for every letter
        self.index: list[IndexChange] | None = None  # changes of the index, step by step
        self.rejected: list[Rejection] = []  # stored letters that no transition took

    def add_change(self, change: IndexChange | None) -> None:
        """Add a change of the index, if there is one."""
        if change is not None:
            self.index = [change] if self.index is None else [*self.index, change]

    @property
    def index_change(self) -> IndexChange | None:
        """The changes of the index, as one."""
        return None if self.index is None else merge_changes(self.index)

    def sort_tasks(self, running: dict[str, Task]) -> list[str]:
        """Collect the tasks to start, and return those that ended.

        Tasks that both started and ended within the batch are left out: they never ran.
        """
        ended: list[str] = []
        never_ran: set[str] = set()
        for effects in self.effects:
            ended += effects.ended
            for task, logic, _ in effects.started:
                if running.get(task.to) is task:
                    self.starting.append((task, logic))
                else:
                    never_ran.add(task.id)
        return [id for id in ended if id not in never_ran] if never_ran else ended

    def stored_tasks(self) -> tuple[Task, ...]:
        """Return the tasks to start as they are stored: without their input, unless they may be repeated."""
        return tuple([task if task.safety == "repeat" else task._replace(input=None) for task, _ in self.starting])
