"""Tasks: work requested by a committed step, whose results come back as letters."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from types import CoroutineType
from typing import Any

from antiphon.actors.callbacks import CallbackLogic
from antiphon.actors.clock import REAL_CLOCK
from antiphon.actors.errors import WrongThread
from antiphon.actors.observers import call_safely
from antiphon.actors.os_threads import thread_lock
from antiphon.actors.tasks import NEXT, REJECT, RESOLVE, VALUES, close_coroutine
from antiphon.chart.errors import EventError
from antiphon.runtime.admission import copy_value, take_event, take_value
from antiphon.runtime.coalescing import Coalescer, CoalescingWindow, loop_ms
from antiphon.runtime.errors import Unstorable
from antiphon.runtime.paths import parent_of
from antiphon.runtime.records import Letter, Task

CURRENT: ContextVar[Task | None] = ContextVar("antiphon_task", default=None)
"""The durable task that runs now, if any."""
ENDING_S = 10.0  # the longest wait for the cancelled tasks of a tree
AWAITABLE = (CoroutineType, Awaitable, AsyncIterable)

Deliver = Callable[[Letter], None]


@dataclass(slots=True)
class DurableScope:
    """The `TaskScope` of a durable task."""

    task: Task
    _send: Callable[[str, Any, str | None], None]
    cancels: list[Callable[[], Any]] = field(default_factory=list)
    receivers: list[Callable[[Any], Any]] = field(default_factory=list)
    _thread: Any = field(default_factory=thread_lock)

    @property
    def key(self) -> str:
        """Idempotency key: the same for every attempt at this task, and for no other task."""
        return self.task.id

    @property
    def attempt(self) -> int:
        """Number of this attempt, from 1."""
        return self.task.attempt

    def send_back(self, event: Any, join: str | None = None) -> None:
        """Send an event to the parent of the actor that represents this task.

        A stream of text passes `join`, the key of the text: pieces that come in quick succession, in events that are
        equal but for this text, may be joined into one event.
        """
        if not self._thread._is_owned():
            raise WrongThread(
                "scope.send_back was called in another thread than that of the runtime; "
                "there, use loop.call_soon_threadsafe(scope.send_back, event)"
            )
        self._send(parent_of(self.task.to), event, join)

    def report(self, value: Any) -> None:
        """Make a value the context of the actor that represents this task, as a value of a stream would be."""
        self._send(self.task.to, {"type": NEXT, "data": value}, None)

    def receive(self, listener: Callable[[Any], Any]) -> None:
        """Call a function with every event that the actor receives."""
        self.receivers.append(listener)

    def on_cancel(self, callback: Callable[[], Any]) -> None:
        """Call a function as soon as the task is cancelled."""
        self.cancels.append(callback)


class TaskRunner:
    """Runs the tasks of this process."""

    def __init__(self, deliver: Deliver, now: Callable[[], int]) -> None:
        self._deliver = deliver
        self._now = now
        self.window = CoalescingWindow(now_ms=loop_ms)
        self._running: dict[str, tuple[asyncio.Task[None], DurableScope]] = {}
        # Cancelled and not done yet: a command, for example, whose processes are being terminated.
        # With each, its tree, and whether nothing that it may still return is delivered.
        self._ending: dict[asyncio.Task[None], tuple[str, bool]] = {}

    def answer(self, task: Task, logic: Any) -> Any:
        """Call an eager function and return the event with its result, or None if the result must be awaited."""
        task = _with_own_input(task)
        try:
            result = logic.call(task.input, DurableScope(task, _refuse_send) if logic.is_scoped else None)
        except Exception as error:
            return {"type": REJECT, "data": error_to_json(error)}
        if is_awaitable(result):
            close_coroutine(result)
            return None
        return _outcome(result)

    def start(self, task: Task, logic: Any) -> None:
        """Start a task; a plain function that returns its result directly has ended when this returns."""
        task = _with_own_input(task)
        outbox = Outbox(task, self._deliver, self._now, self.window)
        scope = DurableScope(task, outbox.add)
        if not logic.is_plain:
            return self._start_task(task, logic, partial(logic.call, task.input, scope), scope, outbox)
        try:
            result = logic.call(task.input, scope)
        except (Exception, asyncio.CancelledError) as error:
            return self._end(task, outbox, {"type": REJECT, "data": error_to_json(error)})
        if not is_awaitable(result):
            return self._end(task, outbox, _outcome(result))
        scope.cancels.append(partial(close_coroutine, result))
        return self._start_task(task, logic, partial(_identity, result), scope, outbox)

    def _start_task(
        self, task: Task, logic: Any, call: Callable[[], Any], scope: DurableScope, outbox: "Outbox"
    ) -> None:
        scope.cancels.append(outbox.close)
        run = asyncio.get_running_loop().create_task(self._run(task, logic, call, scope, outbox))
        self._running[task.id] = (run, scope)

    def cancel(self, id: str, *, is_lost: bool = False) -> None:
        """Cancel a task whose result is no longer needed; if it is lost, nothing that it returns is delivered."""
        running, scope = self._running.pop(id, (None, None))
        if running is not None and scope is not None:
            for callback in scope.cancels:
                call_safely(callback)
            running.cancel()
            self._ending[running] = (scope.task.root, is_lost)
            running.add_done_callback(self._ending.pop)

    def cancel_all(self, root: str) -> None:
        """Cancel the tasks of a tree that is given up."""
        for id in [id for id, (_, scope) in self._running.items() if scope.task.root == root]:
            self.cancel(id, is_lost=True)

    def forward(self, id: str, event: Any) -> None:
        """Pass an event to the listeners of a callback."""
        _, scope = self._running.get(id, (None, None))
        for listener in tuple(scope.receivers) if scope is not None else ():
            call_safely(listener, copy_value(event))

    async def wait_until_done(self) -> None:
        """Wait until no task is running."""
        while pending := [running for running, _ in self._running.values() if not running.done()]:
            await asyncio.wait(pending)

    async def wait_until_ended(self, root: str) -> None:
        """Wait a while for the cancelled tasks of a tree, such as commands that are being terminated."""
        ending = [task for task, (owner, _) in self._ending.items() if owner == root]
        if ending:
            await asyncio.wait(ending, timeout=ENDING_S)

    async def close(self) -> None:
        """Cancel all tasks and wait until they are done."""
        for id in list(self._running):
            self.cancel(id)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def is_running(self, id: str) -> bool:
        """Return whether a task is running."""
        return id in self._running

    @property
    def running(self) -> int:
        """Number of running tasks."""
        return len(self._running)

    async def _run(
        self, task: Task, logic: Any, call: Callable[[], Any], scope: DurableScope, outbox: "Outbox"
    ) -> None:
        CURRENT.set(task)
        try:
            work = call()
            if isinstance(work, CoroutineType):  # the usual case
                result = await work
            elif isinstance(work, AsyncIterable):
                result = None
                async for value in work:
                    outbox.add(task.to, {"type": NEXT, "data": value})
            else:
                result = await work if isinstance(work, Awaitable) else work
        except Exception as error:
            event = {"type": REJECT, "data": error_to_json(error)}
        except asyncio.CancelledError as error:
            current = asyncio.current_task()
            if current is None or current.cancelling():
                raise
            # Cancelled from within, by awaiting something cancelled: the chart must still learn how the task ended.
            event = {"type": REJECT, "data": error_to_json(error)}
        else:
            if isinstance(logic, CallbackLogic):
                if callable(result):
                    scope.cancels.append(result)
                return
            event = _outcome(result)
        finally:
            # A callback outlives its function: it ends with its actor.
            if not isinstance(logic, CallbackLogic):
                self._running.pop(task.id, None)
        if not (self._ending and self._is_lost()):
            self._end(task, outbox, event)

    def _is_lost(self) -> bool:
        """Return whether the task that runs now belongs to a tree that was given up."""
        current = asyncio.current_task()
        return current is not None and self._ending.get(current, ("", False))[1]

    def _end(self, task: Task, outbox: "Outbox", event: Any) -> None:
        outbox.flush()
        self._deliver(_result_letter(task, self._now(), event))


def _result_letter(task: Task, at: int, event: Any) -> Letter:
    return Letter(task.id, task.root, event, at, at, task.to, task.to, None, task.id, task.attempt)


def is_awaitable(work: Any) -> bool:
    """Return whether the return value of a function has to be awaited or iterated."""
    return type(work) not in VALUES and isinstance(work, AWAITABLE)


def _identity(work: Any) -> Any:
    return work


def _refuse_send(to: str, event: Any, join: str | None) -> None:
    raise EventError(f"an eager function cannot send events, but sent {event!r}; make it an ordinary task")


def _with_own_input(task: Task) -> Task:
    """Return a task with a copy of its input, so that its function cannot change the tree."""
    # In the order of `records.py`, because `_replace` takes three times as long.
    return task if task.input is None else Task._make((*task[:4], copy_value(task.input), *task[5:]))


def _outcome(result: Any) -> dict[str, Any]:
    try:
        return {"type": RESOLVE, "data": take_value(result, "result")}
    except Unstorable as error:
        return {"type": REJECT, "data": {"name": "TypeError", "message": f"the result cannot be stored: {error}"}}


class Outbox:
    """Events that a task sends, coalesced where possible."""

    def __init__(self, task: Task, deliver: Deliver, now: Callable[[], int], window: CoalescingWindow) -> None:
        self._task = task
        self._window = window
        self._deliver = deliver
        self._now = now
        self._count = 0
        self._coalescer: Coalescer | None = None  # most tasks only have a result
        self._is_closed = False

    def add(self, to: str, event: Any, join: str | None = None) -> None:
        """Send an event soon."""
        own = take_event(event)
        if self._is_closed:
            return
        if self._coalescer is None:
            self._coalescer = Coalescer(self._send, REAL_CLOCK, window=self._window)
        self._coalescer.add(to, own, join)

    def flush(self) -> None:
        """Send buffered events now."""
        if self._coalescer is not None:
            self._coalescer.flush()

    def close(self) -> None:
        """Send nothing more: the task was cancelled."""
        self._is_closed = True
        if self._coalescer is not None:
            self._coalescer.stop()

    def _send(self, events: list[tuple[str, Any]]) -> None:
        task = self._task
        at = self._now()
        for to, event in events:
            self._count += 1
            id = f"{task.id}/{task.attempt}.{self._count}"
            self._deliver(Letter(id, task.root, event, at, at, to, task.to, None, task.id, task.attempt))


def error_to_json(error: BaseException) -> dict[str, Any]:
    """Return an error as JSON: its name and message, and code, recoverable and retry_after_ms if it has them."""
    data: dict[str, Any] = {"name": type(error).__name__, "message": str(error)}
    for key in ("code", "recoverable", "retry_after_ms"):
        value = getattr(error, key, None)
        if isinstance(value, str | int | float | bool):
            with suppress(Unstorable):
                data[key] = take_value(value, key)
    return data
