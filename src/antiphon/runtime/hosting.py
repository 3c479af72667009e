"""The host of a tree's actors: it notes what they ask for instead of doing it.

What was noted becomes part of the step's commit, and happens once that is stored.
"""

from collections.abc import Callable
from typing import Any

from antiphon.chart.effects import Call
from antiphon.runtime.ids import token
from antiphon.runtime.paths import path_of
from antiphon.runtime.records import Letter, Task


class Notes:
    """What the actors of a tree asked for during a step."""

    __slots__ = ("calls", "cancelled", "emitted", "ended", "heard", "started", "timers")

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []
        self.emitted: list[Any] = []
        self.timers: list[Letter] = []
        self.cancelled: list[str] = []
        self.started: list[tuple[Task, Any, Any]] = []  # with their logic and their actor
        self.ended: list[str] = []
        self.heard: list[tuple[str, Any]] = []


class TreeHost:
    """Notes requests of one tree; while `silent`, when history is gone over again, it notes nothing."""

    def __init__(self, root: str, incarnation: str, epoch: int) -> None:
        self.root, self.incarnation, self.epoch = root, incarnation, epoch
        self.seq, self.now, self.silent = 0, 0, False
        self.has_notes = self.is_unhandled = False
        self._notes = Notes()  # most steps ask for nothing: then it is good for the next one too
        self.letters: dict[str, Letter] = {}  # delayed ones that are still to come, by id
        self.tasks: dict[str, Task] = {}  # running ones, by the address of their actor
        self._count = 0

    def begin(self, seq: int, now: int) -> None:
        """Be ready to note what a step asks for."""
        self.seq, self.now, self._count, self.is_unhandled = seq, now, 0, False
        if self.has_notes:
            self._notes, self.has_notes = Notes(), False

    @property
    def notes(self) -> Notes:
        """What the step has asked for, for someone to add to."""
        self.has_notes = True
        return self._notes

    def resume(self, letters: tuple[Letter, ...], tasks: tuple[Task, ...]) -> None:
        """Know again what is still open."""
        # In the order in which they were set: of two timers of one name the later one is meant.
        timers = sorted((letter for letter in letters if letter.timer is not None), key=lambda letter: letter.id)
        self.letters = {letter.id: letter for letter in timers}
        self.tasks = {task.to: task for task in tasks}

    # -- what actors ask for -------------------------------------------------------------------------------------

    def call(self, actor: Any, effect: Call) -> None:
        """Note a call of a user's action."""
        function = effect.function
        if function is not None and not self.silent:
            scope = None  # an action performed after its step has no actor to act on
            self.notes.calls.append(lambda: function(effect.context, effect.event, effect.given, scope))

    def set_timer(self, actor: Any, target: Any, event: Any, delay_ms: float, id: str | None) -> None:
        """Note a letter for later."""
        if self.silent:
            return
        token = self._token()
        due = self.now + max(0, round(delay_ms))
        name = id if id is not None else token
        letter = Letter(token, self.root, event, self.now, due, path_of(target), path_of(actor), name)
        self.letters[token] = letter
        self.notes.timers.append(letter)

    def cancel_timer(self, actor: Any, id: str) -> None:
        """Note that the latest letter of that name is not to come."""
        sender = path_of(actor)
        named = [letter for letter in self.letters.values() if letter.timer == id and letter.sender == sender]
        if named and not self.silent:
            self._cancel(named[-1])

    def cancel_timers(self, actor: Any) -> None:
        """Note that no letter of an actor that has ended is to come."""
        if not self.letters:
            return
        sender = path_of(actor)
        for letter in [letter for letter in self.letters.values() if letter.sender == sender]:
            if not self.silent:
                self._cancel(letter)

    def start(self, actor: Any, logic: Any) -> None:
        """Note a task to be started."""
        if self.silent:
            return
        to = path_of(actor)
        if to in self.tasks:
            # Spawning under an id that is taken leaves an orphan, whom nobody can reach here any more.
            self.end(to)
        given = actor.snapshot.input
        task = self.tasks[to] = Task(self._token(), self.root, to, str(actor.src), given, logic.safety, 1, self.epoch)
        self.notes.started.append((task, logic, actor))

    def stop(self, actor: Any, logic: Any) -> None:
        """Note a task to be cancelled."""
        self.end(path_of(actor))

    def hear(self, actor: Any, event: Any) -> None:
        """Note an event for the function that a callback actor stands for."""
        task = self.tasks.get(path_of(actor))
        if task is not None and not self.silent:
            self.notes.heard.append((task.id, event))

    def emit(self, actor: Any, event: Any) -> None:
        """Note an event for the journal."""
        if not self.silent:
            self.notes.emitted.append({"from": path_of(actor), "event": event})

    def unhandled(self, event: Any, snapshot: Any) -> None:
        """Note that no transition took the event."""
        self.is_unhandled = True

    # -- bookkeeping ---------------------------------------------------------------------------------------------

    def finish(self, task: Task) -> None:
        """Note that a task has said its last; whoever took its place in the same step goes on."""
        if self.tasks.get(task.to) is task:
            self.end(task.to)

    def end(self, path: str) -> None:
        """Note that whatever task an actor stands for is over."""
        task = None if self.silent else self.tasks.pop(path, None)
        if task is not None:
            self.notes.ended.append(task.id)

    def _cancel(self, letter: Letter) -> None:
        del self.letters[letter.id]
        notes = self.notes
        if letter in notes.timers:
            notes.timers.remove(letter)
        else:
            notes.cancelled.append(letter.id)

    def _token(self) -> str:
        self._count += 1
        return token(self.incarnation, self.seq, self._count - 1)
