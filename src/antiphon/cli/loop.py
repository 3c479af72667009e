"""An event loop beside the keyboard: the main thread reads keys and handles Ctrl-C while the loop works."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Background:
    """Runs coroutines on a thread of its own, from `with` until its end."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="antiphon", daemon=True)

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin something, without waiting for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something and wait for it."""
        return self.submit(work).result()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def __enter__(self) -> "Background":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.call(_cancel_others())
        self.call(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class OpenOnLoop(Generic[T]):
    """An asynchronous context manager that one task of the background loop enters and leaves."""

    def __init__(self, background: Background, manager: AbstractAsyncContextManager[T]) -> None:
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


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
