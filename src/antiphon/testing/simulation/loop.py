"""An event loop with simulated time, which never waits and is deterministic for a seed.

Time stands still while any callback is ready, and jumps to the next timer when none is. `pick` chooses which of the
ready callbacks runs next. Callbacks of a process that has died never run, those of a paused one run later.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import Context, ContextVar
from heapq import heappop
from typing import Any, Protocol, TypeVar, TypeVarTuple
from warnings import catch_warnings, simplefilter

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Owner(Protocol):
    """Owner of callbacks: a simulated process."""

    @property
    def is_alive(self) -> bool:
        """True if its callbacks still run."""
        ...

    def admits(self, callback: asyncio.Handle) -> bool:
        """Return whether a callback runs now."""
        ...


OWNER: ContextVar[Owner] = ContextVar("owner")


class Stalled(Exception):
    """The loop has nothing left to run, or ran too many callbacks."""


def first(count: int) -> int:
    """Pick the first ready callback, as asyncio does."""
    return 0


class SimulatedLoop(asyncio.BaseEventLoop):
    """An event loop without sockets, threads or waiting."""

    _ready: deque[asyncio.Handle]
    _scheduled: list[asyncio.TimerHandle]

    def __init__(self, pick: Callable[[int], int] = first, *, limit: int = 1_000_000) -> None:
        super().__init__()
        self._pick = pick
        self._remaining = limit  # callbacks
        self._now = 0.0
        self._is_disposed = False
        self._jobs: deque[tuple[asyncio.Future[Any], Callable[[], Any]]] = deque()
        # Kept until the end: a task collected earlier would run its `finally` clauses, which a dead process must not.
        self._tasks: list[asyncio.Task[Any]] = []
        self.set_task_factory(self._make_task)
        self.set_exception_handler(lambda loop, context: None)

    def time(self) -> float:
        """Return the simulated seconds since the loop was created."""
        return self._now

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Run a function in this thread soon; jobs run in the order in which they were submitted."""
        future: asyncio.Future[T] = self.create_future()
        owner = OWNER.get(None)
        self._jobs.append((future, lambda: func(*args) if owner is None or owner.is_alive else None))
        self.call_soon(self._do_job, context=Context())
        return future

    def dispose(self) -> None:
        """Drop all pending tasks and close the loop."""
        self._is_disposed = True
        tasks = self._tasks
        self._tasks = []
        with catch_warnings():
            simplefilter("ignore", RuntimeWarning)  # about coroutines that never started
            for task in tasks:
                if not task.done():
                    task._log_destroy_pending = False  # type: ignore[attr-defined]
                    _close(task.get_coro())
        self.close()

    def is_closed(self) -> bool:
        """Return whether the loop is closed or disposed."""
        return self._is_disposed or super().is_closed()

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Schedule a callback; while the loop is being disposed, drop it."""
        if self._is_disposed:
            return asyncio.Handle(callback, args, self, context)
        return super().call_soon(callback, *args, context=context)

    def _do_job(self) -> None:
        future, work = self._jobs.popleft()
        try:
            result = work()
        except Exception as error:
            if not future.cancelled():
                future.set_exception(error)
        else:
            if not future.cancelled():
                future.set_result(result)

    def _make_task(self, loop: Any, coroutine: Any, context: Context | None = None) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=self, context=context)
        self._tasks.append(task)
        return task

    def _run_once(self) -> None:
        ready = self._ready
        if not ready:
            self._advance()
        self._remaining -= 1
        if self._remaining < 0:
            raise Stalled("the simulation does not end: it has run too many callbacks and may be in an endless loop")
        index = self._pick(len(ready)) if len(ready) > 1 else 0
        handle = ready[index]
        del ready[index]
        if not handle.cancelled():
            owner = handle._context.get(OWNER)  # type: ignore[attr-defined]
            if owner is None or owner.admits(handle):
                handle._run()

    def put_back(self, handles: Iterable[asyncio.Handle]) -> None:
        """Make callbacks ready that did not run when it was their turn."""
        self._ready.extend(handles)

    def _advance(self) -> None:
        """Advance to the time of the next timer, and make all timers ready that are due then."""
        timers = self._scheduled
        while timers and timers[0].cancelled():
            heappop(timers)
        if not timers:
            raise Stalled("deadlock: nothing is ready and no timer is set")
        self._now = max(self._now, timers[0].when())
        while timers and timers[0].when() <= self._now:
            handle = heappop(timers)
            if not handle.cancelled():
                self._ready.append(handle)

    def _write_to_self(self) -> None:
        """Do nothing: the loop never sleeps, so it need not be woken."""


def _close(coroutine: Any) -> None:
    try:
        coroutine.close()
    except (RuntimeError, ValueError):
        return  # it awaits something while it is closed, or is running
