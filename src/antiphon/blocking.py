"""The app for programs without an event loop: scripts and notebooks.

An event loop runs on a thread of its own; each call is submitted to it, and blocks until its result is there. The
methods are those of the app: there is no second implementation, and their types are the same but for `await`.
"""

import asyncio
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from antiphon.actors.errors import WrongThread
from antiphon.app import App
from antiphon.background_loop import BackgroundLoop, OpenOnLoop
from antiphon.runtime.errors import NotRunning
from antiphon.threads.activity import Activity
from antiphon.threads.following import UntilIdle
from antiphon.threads.library import Library
from antiphon.threads.threads import Threads

P = ParamSpec("P")
T = TypeVar("T")
END = object()


class Calls:
    """Submits calls to the event loop of an app, and blocks until they are done."""

    def __init__(self) -> None:
        self._loop: BackgroundLoop | None = None

    def start(self, loop: BackgroundLoop) -> None:
        """Accept calls."""
        self._loop = loop

    def stop(self) -> None:
        """Accept no more calls."""
        self._loop = None

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end, and return its result; Ctrl-C cancels it."""
        try:
            return self._run(lambda: work)
        except (NotRunning, WrongThread):
            work.close()  # it was not started, or has ended
            raise

    def _run(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine that is made on the event loop: Ctrl-C may come at any moment here."""
        loop = self._loop
        if loop is None:
            raise NotRunning("the app is not open; use it in a with statement, or call open()")
        if loop.thread is threading.current_thread():
            raise WrongThread("a blocking call in the thread of the app would wait for itself; await `app.app` there")
        future = loop.start(make)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def blocking(self, method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
        """Return a method that blocks instead of being awaited."""

        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return self._run(lambda: method(*args, **kwargs))

        call.__doc__ = method.__doc__
        return call

    def iterating(self, method: Callable[P, AsyncIterable[T]]) -> Callable[P, Iterator[T]]:
        """Return a method whose iterator blocks instead of being awaited."""

        def call(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
            return self.iterate(method(*args, **kwargs))

        call.__doc__ = method.__doc__
        return call

    def iterate(self, source: AsyncIterable[T]) -> Iterator[T]:
        """Iterate over an asynchronous source; it is closed when the iteration ends."""
        iterator = aiter(source)
        tasks: list[asyncio.Task[Any]] = []  # of calls that may have been interrupted, at any moment
        try:
            while (item := self._run(lambda: _next(iterator, tasks))) is not END:
                yield item
        finally:
            if self._loop is not None:
                self._run(lambda: _close(iterator, tasks))


class BlockingUntilIdle:
    """The activities of a thread until it is idle, to be iterated over; `wait` returns its status then."""

    def __init__(self, calls: Calls, source: UntilIdle) -> None:
        self._calls = calls
        self._source = source

    def __iter__(self) -> Iterator[Activity]:
        return self._calls.iterate(self._source)

    @property
    def status(self) -> str | None:
        """Status of the thread, once all activities were read."""
        return self._source.status

    def wait(self) -> str:
        """Wait until the thread is idle, and return its status."""
        return self._calls.call(_wait(self._source))


class BlockingThreads:
    """The methods of `app.threads`; they block instead of being awaited."""

    def __init__(self, calls: Calls, threads: Threads) -> None:
        self._calls = calls
        self._threads = threads
        self.create = calls.blocking(threads.create)
        self.start = calls.blocking(threads.start)
        self.say = calls.blocking(threads.say)
        self.send = calls.blocking(threads.send)
        self.begin = calls.blocking(threads.begin)
        self.requests = calls.blocking(threads.requests)
        self.answer = calls.blocking(threads.answer)
        self.permissions = calls.blocking(threads.permissions)
        self.revoke = calls.blocking(threads.revoke)
        self.set_mode = calls.blocking(threads.set_mode)
        self.allow_model = calls.blocking(threads.allow_model)
        self.perform = calls.blocking(threads.perform)
        self.stop = calls.blocking(threads.stop)
        self.pause = calls.blocking(threads.pause)
        self.resume = calls.blocking(threads.resume)
        self.retry = calls.blocking(threads.retry)
        self.rename = calls.blocking(threads.rename)
        self.archive = calls.blocking(threads.archive)
        self.delete = calls.blocking(threads.delete)
        self.export = calls.blocking(threads.export)
        self.undo_plan = calls.blocking(threads.undo_plan)
        self.undo = calls.blocking(threads.undo)
        self.fork = calls.blocking(threads.fork)
        self.status = calls.blocking(threads.status)
        self.state = calls.blocking(threads.state)
        self.has_content = calls.blocking(threads.has_content)
        self.config = calls.blocking(threads.config)
        self.content = calls.blocking(threads.content)
        self.snapshot = calls.blocking(threads.snapshot)
        self.cursor = calls.blocking(threads.cursor)
        self.history = calls.blocking(threads.history)
        self.activities = calls.blocking(threads.activities)
        self.read = calls.blocking(threads.read)
        self.usage = calls.blocking(threads.usage)
        self.can = calls.blocking(threads.can)
        self.steps = calls.iterating(threads.steps)
        self.follow = calls.iterating(threads.follow)
        self.follow_all = calls.iterating(threads.follow_all)

    def until_idle(self, id: str, after: int | str = 0) -> BlockingUntilIdle:
        """Iterate over the activities after a step or cursor, until the thread has nothing left to do now.

        `until_idle(id).wait()` waits for that, and returns the status of the thread.
        """
        return BlockingUntilIdle(self._calls, self._threads.until_idle(id, after))


class BlockingLibrary:
    """The methods of `app.library`; they block instead of being awaited."""

    def __init__(self, calls: Calls, library: Library) -> None:
        self.latest = calls.blocking(library.latest)
        self.search = calls.blocking(library.search)
        self.read = calls.blocking(library.read)
        self.find = calls.blocking(library.find)
        self.config = calls.blocking(library.config)
        self.export = calls.blocking(library.export)


class BlockingApp:
    """An app on an event loop of its own, for scripts and notebooks; a context manager.

    It is given a file, or an `App` that was made with more than a file. `call` runs any coroutine of that app.
    """

    def __init__(self, app: App | str | Path) -> None:
        self.app = app if isinstance(app, App) else App(app)
        self._calls = Calls()
        self._resources = ExitStack()
        self._is_opened = False
        self.call = self._calls.call
        self.threads = BlockingThreads(self._calls, self.app.threads)
        self.library = BlockingLibrary(self._calls, self.app.library)

    def open(self) -> Self:
        """Open the store, and continue where its last owner stopped; raise `NotRunning` if it was opened before."""
        if self._is_opened:
            raise NotRunning("this app was opened before; make another one for each time that the store is opened")
        self._is_opened = True
        with ExitStack() as stack:
            loop = stack.enter_context(BackgroundLoop())
            stack.enter_context(OpenOnLoop(loop, self.app))
            self._resources = stack.pop_all()
        self._calls.start(loop)
        return self

    def close(self) -> None:
        """Store what is under way, and close the store; a closed app stays closed."""
        self._calls.stop()
        self._resources.close()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def _next(iterator: AsyncIterator[T], tasks: list["asyncio.Task[Any]"]) -> Any:
    """Return the next item, or `END`: a coroutine cannot raise `StopAsyncIteration`."""
    task = asyncio.current_task()
    assert task is not None
    tasks[:] = [task]
    return await anext(iterator, END)


async def _close(iterator: AsyncIterator[Any], tasks: list["asyncio.Task[Any]"]) -> None:
    """Close an iterator, after a call for its next item was cancelled."""
    for task in tasks:
        task.cancel()
        await asyncio.wait([task])
    close = getattr(iterator, "aclose", None)
    if close is not None:
        await close()


async def _wait(source: UntilIdle) -> str:
    return await source
