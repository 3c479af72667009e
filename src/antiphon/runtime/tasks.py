"""Running tasks: work that a committed step asked for, and whose results come back as letters."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from types import CoroutineType
from typing import Any

from antiphon.actors.callbacks import CallbackLogic
from antiphon.actors.clock import REAL_CLOCK
from antiphon.actors.observers import call_safely
from antiphon.actors.tasks import NEXT, REJECT, RESOLVE, VALUES, close_coroutine
from antiphon.chart.errors import EventError
from antiphon.runtime.admission import not_json
from antiphon.runtime.coalescing import Coalescer
from antiphon.runtime.paths import parent_of
from antiphon.runtime.records import Letter, Task

WAITED_FOR = (CoroutineType, Awaitable, AsyncIterable)

Deliver = Callable[[Letter], None]


@dataclass(slots=True)
class TaskScope:
    """What the function of a task may ask for."""

    task: Task
    _tell: Callable[[str, Any], None]
    cancels: list[Callable[[], Any]] = field(default_factory=list)
    receivers: list[Callable[[Any], Any]] = field(default_factory=list)

    @property
    def key(self) -> str:
        """The idempotency key: the same for every attempt at this task, and for no other task."""
        return self.task.id

    @property
    def attempt(self) -> int:
        """Which attempt this is."""
        return self.task.attempt

    def send_back(self, event: Any) -> None:
        """Send an event to the parent of the actor that stands for this task."""
        self._tell(parent_of(self.task.to), event)

    def receive(self, listener: Callable[[Any], Any]) -> None:
        """Have a function called with every event the actor gets."""
        self.receivers.append(listener)

    def on_cancel(self, callback: Callable[[], Any]) -> None:
        """Have a function called at once when the task is cancelled."""
        self.cancels.append(callback)


class TaskRunner:
    """Runs the tasks of this process."""

    def __init__(self, deliver: Deliver, now: Callable[[], int]) -> None:
        self._deliver, self._now = deliver, now
        self._running: dict[str, tuple[asyncio.Task[None], TaskScope]] = {}
        # Cancelled, and not gone yet: a command, say, whose processes are being ended.
        self._ending: dict[asyncio.Task[None], None] = {}

    def answer(self, task: Task, logic: Any) -> Any:
        """What an eager function answers at once, if it does; one that has to be awaited begins when it is started."""
        try:
            work = logic.call(task.input, TaskScope(task, _not_yet) if logic.is_scoped else None)
        except Exception as error:
            return {"type": REJECT, "data": described(error)}
        if has_to_be_awaited(work):
            close_coroutine(work)
            return None
        return _outcome(work)

    def start(self, task: Task, logic: Any) -> None:
        """Begin a task; a plain function that answers at once is over when this returns."""
        deltas = Deltas(task, self._deliver, self._now)
        scope = TaskScope(task, deltas.add)
        if not logic.is_plain:
            return self._follow(task, logic, partial(logic.call, task.input, scope), scope, deltas)
        try:
            work = logic.call(task.input, scope)
        except (Exception, asyncio.CancelledError) as error:
            return self._end(task, deltas, {"type": REJECT, "data": described(error)})
        if not has_to_be_awaited(work):
            return self._end(task, deltas, _outcome(work))
        scope.cancels.append(partial(close_coroutine, work))
        return self._follow(task, logic, partial(_itself, work), scope, deltas)

    def _follow(self, task: Task, logic: Any, call: Callable[[], Any], scope: TaskScope, deltas: "Deltas") -> None:
        run = asyncio.get_running_loop().create_task(self._run(task, logic, call, scope, deltas))
        self._running[task.id] = (run, scope)

    def cancel(self, id: str) -> None:
        """End a task whose result nobody waits for."""
        work, scope = self._running.pop(id, (None, None))
        if work is not None and scope is not None:
            for callback in scope.cancels:
                call_safely(callback)
            work.cancel()
            self._ending[work] = None
            work.add_done_callback(self._ending.pop)

    def hear(self, id: str, event: Any) -> None:
        """Give an event to a callback that listens."""
        _, scope = self._running.get(id, (None, None))
        for listener in tuple(scope.receivers) if scope is not None else ():
            call_safely(listener, event)

    async def finished(self) -> None:
        """Wait until no task is running."""
        while works := [work for work, _ in self._running.values() if not work.done()]:
            await asyncio.wait(works)

    async def close(self) -> None:
        """End all tasks and wait until they are gone."""
        for id in list(self._running):
            self.cancel(id)
        await asyncio.gather(*self._ending, return_exceptions=True)

    @property
    def running(self) -> int:
        """How many tasks are running."""
        return len(self._running)

    async def _run(self, task: Task, logic: Any, call: Callable[[], Any], scope: TaskScope, deltas: "Deltas") -> None:
        try:
            work = call()
            if isinstance(work, CoroutineType):  # as almost all are
                result = await work
            elif isinstance(work, AsyncIterable):
                result = None
                async for value in work:
                    deltas.add(task.to, {"type": NEXT, "data": value})
            else:
                result = await work if isinstance(work, Awaitable) else work
        except Exception as error:
            event = {"type": REJECT, "data": described(error)}
        except asyncio.CancelledError as error:
            current = asyncio.current_task()
            if current is None or current.cancelling():
                raise
            # Cancelled from within, by awaiting something that was: nobody else will say how this ended.
            event = {"type": REJECT, "data": described(error)}
        else:
            if isinstance(logic, CallbackLogic):
                if callable(result):
                    scope.cancels.append(result)
                return
            event = _outcome(result)
        finally:
            # A callback goes on when its function has returned: it ends when its actor does.
            if not isinstance(logic, CallbackLogic):
                self._running.pop(task.id, None)
        self._end(task, deltas, event)

    def _end(self, task: Task, deltas: "Deltas", event: Any) -> None:
        deltas.flush()
        self._deliver(_letter(task, self._now(), event))


def _letter(task: Task, at: int, event: Any) -> Letter:
    """What says how a task ended."""
    return Letter(task.id, task.root, event, at, at, task.to, task.to, None, task.id, task.attempt)


def has_to_be_awaited(work: Any) -> bool:
    """Whether what a function gave is not its answer yet."""
    return type(work) not in VALUES and isinstance(work, WAITED_FOR)


def _itself(work: Any) -> Any:
    return work


def _not_yet(to: str, event: Any) -> None:
    raise EventError(f"an eager function only computes: it cannot send {event!r}")


def _outcome(result: Any) -> dict[str, Any]:
    problem = not_json(result)
    if problem is None:
        return {"type": RESOLVE, "data": result}
    return {"type": REJECT, "data": {"name": "TypeError", "message": f"the result cannot be stored: {problem}"}}


class Deltas:
    """Events of one task on their way, joined where they can be."""

    def __init__(self, task: Task, deliver: Deliver, now: Callable[[], int]) -> None:
        self._task = task
        self._deliver = deliver
        self._now = now
        self._count = 0
        self._coalescer: Coalescer | None = None  # most tasks only have a result

    def add(self, to: str, event: Any) -> None:
        """Send an event, soon."""
        problem = not_json(event)
        if problem is not None:
            raise EventError(f"the event {event!r} cannot be stored: {problem}")
        if self._coalescer is None:
            self._coalescer = Coalescer(self._send, REAL_CLOCK)
        self._coalescer.add(to, event)

    def flush(self) -> None:
        """Send what waits, now."""
        if self._coalescer is not None:
            self._coalescer.flush()

    def _send(self, waiting: list[tuple[str, Any]]) -> None:
        task = self._task
        at = self._now()
        for to, event in waiting:
            self._count += 1
            id = f"{task.id}/{task.attempt}.{self._count}"
            self._deliver(Letter(id, task.root, event, at, at, to, task.to, None, task.id, task.attempt))


def described(error: BaseException) -> dict[str, Any]:
    """An error as JSON: its name and message, and a code and whether it can be recovered from if it says so."""
    found: dict[str, Any] = {"name": type(error).__name__, "message": str(error)}
    for key in ("code", "recoverable", "retry_after_ms"):
        value = getattr(error, key, None)
        if isinstance(value, str | int | float | bool):
            found[key] = value
    return found
