"""An event loop on its own thread, so that the main thread can read keys and handle Ctrl-C."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, InvalidStateError
from contextlib import AbstractAsyncContextManager, suppress
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class BackgroundLoop:
    """Runs coroutines on its own thread; a context manager."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="antiphon", daemon=True)

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine and return its future."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def start(self, make: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start a coroutine that is made on the loop, so that an interrupted caller leaves none behind."""
        future: Future[T] = Future()
        self._loop.call_soon_threadsafe(self._start, make, future)
        return future

    def _start(self, make: Callable[[], Coroutine[Any, Any, T]], future: Future[T]) -> None:
        if future.cancelled():
            return
        try:
            task = self._loop.create_task(make())
        except Exception as error:
            future.set_exception(error)
            return
        task.add_done_callback(lambda task: _copy_outcome(task, future))
        future.add_done_callback(lambda future: self._cancel(task) if future.cancelled() else None)

    def _cancel(self, task: "asyncio.Task[Any]") -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(task.cancel)

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result."""
        return self.submit(work).result()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def __enter__(self) -> "BackgroundLoop":
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.call(_cancel_pending())
        self.call(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self.thread.join()
        self._loop.close()


def _copy_outcome(task: "asyncio.Task[T]", future: Future[T]) -> None:
    """Copy the outcome of a task to the future of its caller, who may have gone."""
    with suppress(InvalidStateError):
        if task.cancelled():
            future.cancel()
        elif (error := task.exception()) is not None:
            future.set_exception(error)
        else:
            future.set_result(task.result())


class OpenOnLoop(Generic[T]):
    """Enters and exits an asynchronous context manager in one task of the background loop."""

    def __init__(self, background: BackgroundLoop, manager: AbstractAsyncContextManager[T]) -> None:
        self._background = background
        self._manager = manager
        self._ready: Future[T] = Future()
        self._closing = asyncio.Event()

    def __enter__(self) -> T:
        self._task = self._background.submit(self._run())
        return self._ready.result()

    def __exit__(self, *error: object) -> None:
        self._background.call(self._close())
        self._task.result()

    async def _run(self) -> None:
        try:
            async with self._manager as resource:
                self._ready.set_result(resource)
                await self._closing.wait()
        except BaseException as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    async def _close(self) -> None:
        self._closing.set()


async def _cancel_pending() -> None:
    pending = asyncio.all_tasks() - {asyncio.current_task()}
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
