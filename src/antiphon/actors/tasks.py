"""Actors from asynchronous functions: tasks give one result, streams give many values."""

from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine
from types import CoroutineType
from typing import Any, Literal

from antiphon.actors.errors import NoEventLoop
from antiphon.actors.logic import LogicSnapshot, WorkScope, bind_input
from antiphon.actors.loop import running_loop
from antiphon.chart.functions import shape

AWAITABLE = (CoroutineType, Awaitable)  # most are coroutines, which is faster to check
VALUES = frozenset((dict, list, str, int, float, bool, type(None)))  # never awaitable, which is faster still
ASYNC = 0x80 | 0x100 | 0x200  # code flags of coroutine functions and async generators
Safety = Literal["repeat", "report", "once"]
MAX_EAGER_ANSWERS = 16  # results of eager functions in a row, before the event loop runs again
RESOLVE = "xstate.promise.resolve"
REJECT = "xstate.promise.reject"
NEXT = "xstate.stream.next"
STOP = "xstate.stop"


class AsyncLogic:
    """Runs a coroutine while the actor is active and cancels it when the actor is stopped."""

    __slots__ = ("_run", "call", "eager", "is_plain", "is_scoped", "is_stream", "safety")

    def __init__(
        self,
        function: Callable[..., Any],
        run: Callable[[Any, Any], Coroutine[Any, Any, None]],
        safety: Safety,
        eager: bool = False,
    ) -> None:
        self.call = bind_input(function)
        self._run = run
        self.safety = safety
        self.eager = eager
        self.is_plain = is_plain(function)
        self.is_scoped = shape(function).scoped
        self.is_stream = run is _run_stream  # gives many values

    def begin(self, actor: Any) -> LogicSnapshot:
        """Return the first snapshot."""
        return LogicSnapshot("active", None, actor.input)

    def start(self, actor: Any) -> None:
        """Ask the host to start the work."""
        if actor.snapshot.status == "active":
            actor.system.host.start(actor, self)

    def launch(self, actor: Any) -> None:
        """Call the function, and run its result as a task if it has to be awaited."""
        work = self.call(actor.snapshot.input, WorkScope(actor) if self.is_scoped else None)
        waits = self.is_stream or (type(work) not in VALUES and isinstance(work, AWAITABLE))
        system = actor.system
        if not waits and self.eager and system.answers < MAX_EAGER_ANSWERS:
            system.answers += 1
            system.relay(actor, actor, {"type": RESOLVE, "data": work})
            return
        loop = running_loop()
        if loop is None:
            close_coroutine(work)
            raise NoEventLoop(f"actor {actor.id!r} is asynchronous: start it inside a running event loop")
        if waits:
            actor.private.update(task=loop.create_task(self._run(actor, work)), work=work)
        else:
            loop.call_soon(_settle, actor, RESOLVE, work)

    def receive(self, actor: Any, event: Any) -> LogicSnapshot:
        """Return the snapshot after an event."""
        snapshot: LogicSnapshot = actor.snapshot
        if snapshot.status != "active":
            return snapshot
        match event["type"]:
            case "xstate.promise.resolve":
                return snapshot.end("done", event.get("data"))
            case "xstate.stream.next":
                return LogicSnapshot(context=event["data"], input=snapshot.input)
            case "xstate.promise.reject":
                return snapshot.end("error", error=event["data"])
            case "xstate.stop":
                actor.system.host.stop(actor, self)
                return snapshot.end("stopped")
        return snapshot

    def abandon(self, actor: Any) -> None:
        """Cancel the work."""
        _cancel(actor)


def from_task(function: Callable[..., Any], *, safety: Safety = "report", eager: bool = False) -> AsyncLogic:
    """Create actor logic from a function of `input` (and `scope`), usually async; its result is the output.

    Two options matter to a durable host. `safety` says whether work that a dead process left behind may be repeated
    (`repeat`), is reported to the chart as interrupted (`report`), or as of unknown outcome (`once`).
    `eager` says that calling the function only computes. It is then called before the step that invokes it is stored,
    and an immediate result is stored together with that step; an awaitable result is awaited afterwards.
    """
    return AsyncLogic(function, _run_task, safety, eager)


def from_stream(function: Callable[..., Any], *, safety: Safety = "report") -> AsyncLogic:
    """Create actor logic from an async iterator of `input`; each value becomes the snapshot's context."""
    return AsyncLogic(function, _run_stream, safety)


async def _run_task(actor: Any, work: Any) -> None:
    try:
        result = await work
    except Exception as error:
        _settle(actor, REJECT, error)
    except BaseException as error:
        # It awaited something that was cancelled. The actor was not stopped, so its end has to be reported here.
        if actor.snapshot.status == "active" and _is_self_cancelled(error):
            _settle(actor, REJECT, error)
        else:
            raise
    else:
        _settle(actor, RESOLVE, result)


async def _run_stream(actor: Any, work: AsyncIterable[Any]) -> None:
    try:
        async for value in work:
            if actor.snapshot.status != "active":
                return
            actor.system.relay(actor, actor, {"type": NEXT, "data": value})
    except Exception as error:
        _settle(actor, REJECT, error)
    else:
        _settle(actor, RESOLVE, None)


def _is_self_cancelled(error: BaseException) -> bool:
    # Imported here because asyncio is slow to load; a running task has loaded it already.
    import asyncio

    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() == 0


def is_plain(function: Callable[..., Any]) -> bool:
    """Return whether a function is known not to be async; its result may still have to be awaited."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is not None and not code.co_flags & ASYNC


def _settle(actor: Any, type: str, data: Any) -> None:
    actor.system.answers = 0
    if actor.snapshot.status == "active":
        actor.private.clear()
        actor.system.relay(actor, actor, {"type": type, "data": data})


def _cancel(actor: Any) -> None:
    private = actor.private
    for callback in private.get("cancels", ()):
        callback()
    task = private.get("task")
    work = private.get("work")
    private.clear()
    if task is not None:
        task.cancel()
    close_coroutine(work)


def close_coroutine(work: Any) -> None:
    """Close a coroutine that never ran, because Python warns of coroutines that are never awaited."""
    if isinstance(work, CoroutineType) and work.cr_frame is not None and not work.cr_suspended and not work.cr_running:
        work.close()
