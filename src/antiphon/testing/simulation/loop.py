"""An event loop with its own time: nothing is waited for, and one seed gives one order of events.

Time stands still while anything is ready and jumps to the next timer when nothing is. Which of the ready
callbacks runs next is up to `pick`. Callbacks that belong to a process that has died never run.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import Context, ContextVar
from heapq import heappop
from typing import Any, Protocol, TypeVar, TypeVarTuple
from warnings import catch_warnings, simplefilter

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Mortal(Protocol):
    """Whoever callbacks may belong to."""

    @property
    def is_alive(self) -> bool:
        """Whether its callbacks still run."""
        ...


OWNER: ContextVar[Mortal] = ContextVar("owner")


class Stalled(Exception):
    """Nothing will ever happen again, or too much happens."""


def first(count: int) -> int:
    """The order of asyncio itself: first come, first served."""
    return 0


class SimulatedLoop(asyncio.BaseEventLoop):
    """An event loop without sockets, threads or waiting."""

    _ready: deque[asyncio.Handle]
    _scheduled: list[asyncio.TimerHandle]

    def __init__(self, pick: Callable[[int], int] = first, *, most: int = 1_000_000) -> None:
        super().__init__()
        self._pick, self._left, self._now, self._is_over = pick, most, 0.0, False
        self._jobs: deque[tuple[asyncio.Future[Any], Callable[[], Any]]] = deque()
        # Held until the end: what is collected earlier runs its `finally` clauses, which the dead do not.
        self._tasks: list[asyncio.Task[Any]] = []
        self.set_task_factory(self._make_task)
        self.set_exception_handler(lambda loop, context: None)

    def time(self) -> float:
        """Seconds since the loop was made, of its own time."""
        return self._now

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Do the work in this thread, soon; jobs are done in the order in which they were given."""
        future: asyncio.Future[T] = self.create_future()
        owner = OWNER.get(None)
        self._jobs.append((future, lambda: func(*args) if owner is None or owner.is_alive else None))
        self.call_soon(self._do_job, context=Context())
        return future

    def dispose(self) -> None:
        """Forget everything that is still under way."""
        self._is_over = True
        tasks, self._tasks = self._tasks, []
        with catch_warnings():
            simplefilter("ignore", RuntimeWarning)  # of coroutines that never got so far as to run
            for task in tasks:
                if not task.done():
                    task._log_destroy_pending = False  # type: ignore[attr-defined]
                    _close(task.get_coro())
        self.close()

    def is_closed(self) -> bool:
        """Whether nothing can be run any more."""
        return self._is_over or super().is_closed()

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Have a function called; what is asked for while everything is being forgotten is forgotten too."""
        if self._is_over:
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
        self._left -= 1
        if self._left < 0:
            raise Stalled("the simulation does not come to an end: it is going in circles")
        place = self._pick(len(ready)) if len(ready) > 1 else 0
        handle = ready[place]
        del ready[place]
        if not handle.cancelled():
            owner = handle._context.get(OWNER)  # type: ignore[attr-defined]
            if owner is None or owner.is_alive:
                handle._run()

    def _advance(self) -> None:
        """Go to the time of the next timer, and make ready all that are due then."""
        waiting = self._scheduled
        while waiting and waiting[0].cancelled():
            heappop(waiting)
        if not waiting:
            raise Stalled("nothing is ready and no timer is set: everybody waits for somebody else")
        self._now = max(self._now, waiting[0].when())
        while waiting and waiting[0].when() <= self._now:
            handle = heappop(waiting)
            if not handle.cancelled():
                self._ready.append(handle)

    def _write_to_self(self) -> None:
        """Nobody sleeps, so nobody needs to be woken."""


def _close(coroutine: Any) -> None:
    try:
        coroutine.close()
    except (RuntimeError, ValueError):
        return  # it waits even while it is closed, or is the one that runs
