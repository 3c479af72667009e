"""The host of a tree's actors: it records the effects they request instead of performing them.

Recorded effects become part of the step's commit, and are performed once that is stored.
"""

from collections.abc import Callable
from typing import Any

from antiphon.actors.clock import SimulatedClock
from antiphon.actors.tasks import REJECT, RESOLVE
from antiphon.chart.effects import Call
from antiphon.chart.scope import Facts, Scope
from antiphon.runtime.histories import HistoryIds
from antiphon.runtime.ids import StepNumbers, token, token_order
from antiphon.runtime.open_work import open_work_to_json
from antiphon.runtime.paths import path_of
from antiphon.runtime.records import Letter, Task
from antiphon.runtime.replay.changes import Changes
from antiphon.version import VERSION


class RecordedEffects:
    """Effects that the actors of a tree requested during a step."""

    __slots__ = ("calls", "cancelled", "emitted", "ended", "forwarded", "seq", "started", "timers")

    def __init__(self) -> None:
        self.seq = 0  # of the step
        self.calls: list[Callable[[], None]] = []  # of users' actions
        self.emitted: list[Any] = []
        self.timers: list[Letter] = []
        self.cancelled: list[str] = []  # timers, by id
        self.started: list[tuple[Task, Any, Any]] = []  # tasks with their logic and their actor
        self.ended: list[str] = []  # tasks, by id
        self.forwarded: list[tuple[str, Any]] = []  # events for callbacks, by the id of their task


class StepClock(SimulatedClock):
    """Time of the step that a tree takes; it has no timers, because those of a tree are letters."""

    __slots__ = ("_host",)

    def __init__(self, host: "RecordingHost") -> None:
        super().__init__()
        self._host = host

    def now(self) -> float:
        """Return the time of the step."""
        return self._host.now


class RecordingHost:
    """Records the effects of one tree; while `silent`, when state is restored, it records nothing."""

    def __init__(self, root: str, history: str, boot: int, release: str | None = None) -> None:
        self.root = root
        self._ids = HistoryIds(history)
        self.history = self._ids.current  # its id at the current step
        self.boot = boot
        self.release = release or VERSION  # of Antiphon, for the entries
        self.seq = 0
        self.now = 0
        self.clock = StepClock(self)
        self.silent = False
        self.has_effects = False
        self._unhandled: tuple[Any, Any] | None = None  # the first event of this step that no transition took
        self._effects = RecordedEffects()  # most steps request nothing: then the next one uses it too
        self.letters: dict[str, Letter] = {}  # delayed letters that are not due or not taken yet, by id
        self.tasks: dict[str, Task] = {}  # running tasks, by the address of their actor
        self._count = 0
        self._facts: Facts | None = None  # most steps ask for none
        self.previous: dict[Any, Any] = {}  # snapshots that the actors of this step had before it
        self.requests: list[str] = []  # timers cancelled and tasks stopped in this step, whether there are such or not

    def begin(self, seq: int, now: int) -> None:
        """Prepare to record the effects of a step."""
        self.seq = seq
        self.now = now
        self._count = 0
        self._unhandled = None
        self._facts = None
        if self.previous:
            self.previous.clear()
        if self.requests:
            self.requests.clear()
        if self.has_effects:
            self._effects = RecordedEffects()
            self.has_effects = False

    def begin_again(self, seq: int, now: int) -> None:
        """Prepare to replay a step, under the id that its history had then."""
        self.history = self._ids.at(seq)
        self.begin(seq, now)

    @property
    def effects(self) -> RecordedEffects:
        """The effects of the current step, to add to."""
        self.has_effects = True
        return self._effects

    def changes(self) -> Changes:
        """Return what the current step has changed; raise `Unstorable` if it made a value that cannot be stored."""
        changes = Changes(self.previous, self.requests, self._effects if self.has_effects else None)
        self.previous.clear()
        return changes

    def resume(self, letters: tuple[Letter, ...], tasks: tuple[Task, ...]) -> None:
        """Restore open timers and tasks, to take further steps."""
        self.history = self._ids.current
        # In the order in which they were set: of two timers of one name, cancelling means the later one.
        timers = sorted((letter for letter in letters if letter.timer is not None), key=_set_order)
        self.letters = {letter.id: letter for letter in timers}
        self.tasks = {task.to: task for task in tasks}

    def facts(self, system: Any) -> Facts:
        """Return the time of the step, and ids and random numbers that are derived from its place in the journal."""
        if self._facts is None:
            self._facts = _step_facts(self.history, self.seq, self.now)
        return self._facts

    def open_work(self, at: int) -> Any:
        """Return the open timers and tasks as JSON; `at` is the time of the step."""
        return open_work_to_json(at, self.letters.values(), self.tasks.values())

    def call(self, actor: Any, effect: Call) -> None:
        """Record a call of a user's action."""
        function = effect.function
        if function is not None and not self.silent:
            calls = self.effects.calls
            start = f"{self.history}/action/{len(calls)}"
            place = (start, self.seq, self.now)
            calls.append(lambda: function(effect.context, effect.event, effect.given, _action_scope(*place)))

    def set_timer(self, actor: Any, target: Any, event: Any, delay_ms: float, id: str | None) -> None:
        """Record a delayed letter."""
        if self.silent:
            return
        token = self._token()
        due = self.now + max(0, round(delay_ms))
        name = id if id is not None else token
        letter = Letter(token, self.root, event, self.now, due, path_of(target), path_of(actor), name)
        self.letters[token] = letter
        self.effects.timers.append(letter)

    def cancel_timer(self, actor: Any, id: str, *, every: bool = False) -> None:
        """Record the cancellation of the latest delayed letter of that name, or of every one."""
        sender = path_of(actor)
        self.requests.append(f"cancel {id} of {sender}")
        named = [letter for letter in self.letters.values() if letter.timer == id and letter.sender == sender]
        if not self.silent:
            for letter in named if every else named[-1:]:
                self._cancel(letter)

    def cancel_timers(self, actor: Any) -> None:
        """Record the cancellation of all delayed letters of an actor that has ended."""
        if not self.letters:
            return
        sender = path_of(actor)
        for letter in [letter for letter in self.letters.values() if letter.sender == sender]:
            if not self.silent:
                self._cancel(letter)

    def start(self, actor: Any, logic: Any) -> None:
        """Record the start of a task."""
        if self.silent:
            return
        to = path_of(actor)
        if to in self.tasks:
            # Spawning under an id in use leaves an orphan that has no address any more.
            self.end(to)
        input = actor.snapshot.input
        task = self.tasks[to] = Task(self._token(), self.root, to, str(actor.src), input, logic.safety, 1, self.boot)
        self.effects.started.append((task, logic, actor))

    def stop(self, actor: Any, logic: Any) -> None:
        """Record the cancellation of a task."""
        path = path_of(actor)
        self.requests.append(f"stop {path}")
        self.end(path)

    def hear(self, actor: Any, event: Any) -> None:
        """Record an event for the function of a callback actor."""
        task = self.tasks.get(path_of(actor))
        if task is not None and not self.silent:
            self.effects.forwarded.append((task.id, event))

    def emit(self, actor: Any, event: Any) -> None:
        """Record an emitted event for the journal."""
        if not self.silent:
            self.effects.emitted.append({"from": path_of(actor), "event": event})

    def unhandled(self, event: Any, snapshot: Any) -> None:
        """Record that no transition took the event."""
        if self._unhandled is None:
            self._unhandled = (event, snapshot)

    def is_unhandled(self, event: Any, before: Any) -> bool:
        """Return whether the actor that had a snapshot before this step did not take its event."""
        # Other actors, which it sends to, may ignore what it sends: the step is one nevertheless.
        return self._unhandled is not None and self._unhandled[0] is event and self._unhandled[1] is before

    def finish(self, task: Task) -> None:
        """Mark the task as finished, unless the same step has already replaced it."""
        if self.tasks.get(task.to) is task:
            self.end(task.to)

    def finish_by(self, event: Any, task: Task) -> None:
        """Mark the task as finished if an event is its result."""
        if event["type"] in (RESOLVE, REJECT):
            self.finish(task)

    def end(self, path: str) -> None:
        """Record the end of the task at an address, if there is one."""
        task = None if self.silent else self.tasks.pop(path, None)
        if task is not None:
            self.effects.ended.append(task.id)

    def _cancel(self, letter: Letter) -> None:
        del self.letters[letter.id]
        effects = self.effects
        if letter in effects.timers:
            effects.timers.remove(letter)
        else:
            effects.cancelled.append(letter.id)

    def _token(self) -> str:
        self._count += 1
        return token(self.history, self.seq, self._count - 1)


def _step_facts(start: str, seq: int, now: int) -> Facts:
    numbers = StepNumbers(start, seq)
    return Facts(now, numbers.new_id, numbers.random)


def _action_scope(start: str, seq: int, now: int) -> Scope:
    """Return the scope of an action, which is performed after its step is stored and has no actor to act on."""
    return Scope(facts=_step_facts(start, seq, now))


def _set_order(letter: Letter) -> list[str]:
    return token_order(letter.id)
