"""A limit on how long a stream may be silent, at the price of one timer for the whole stream."""

import asyncio
from types import TracebackType
from typing import Any, Self

from antiphon.errors import Code
from antiphon.providers.clock import Clock
from antiphon.providers.errors import ProviderError


class Watch:
    """Cancels the waiting task when the time is up, and turns that into a timeout error.

    Time counts only while the task waits for the server: a slow reader is not the server's fault.
    The timer is not moved with every delta; when it fires too early it is set again.
    """

    __slots__ = ("_cancelling", "_clock", "_due", "_expired", "_fires", "_limit_ms", "_task", "_timer", "_waiting")

    def __init__(self, clock: Clock, limit_ms: float) -> None:
        self._clock = clock
        self._limit_ms = limit_ms
        self._expired = False
        self._timer: Any = None
        self._fires = float("inf")

    def __enter__(self) -> Self:
        self.wait(self._limit_ms)
        return self

    def wait(self, limit_ms: float) -> None:
        """From now on the task waits, and may do so for this long."""
        self._limit_ms = limit_ms
        self._due = self._clock.now() + limit_ms
        # Only when a shorter limit takes over must the timer be moved.
        if self._due < self._fires:
            self._set(limit_ms)
        self.resume()

    def resume(self) -> None:
        """The task waits again, for the rest of the time it had."""
        task = asyncio.current_task()
        assert task is not None, "a stream is read by a task"
        self._task = task
        self._cancelling = task.cancelling()
        self._waiting = True

    def rest(self) -> None:
        """The server has said something; until the next wait no time counts."""
        self._waiting = False

    def _set(self, delay_ms: float) -> None:
        if self._timer is not None:
            self._clock.clear_timeout(self._timer)
        self._fires = self._clock.now() + delay_ms
        self._timer = self._clock.set_timeout(self._check, delay_ms)

    def _check(self) -> None:
        self._timer = None
        left = self._due - self._clock.now() if self._waiting else self._limit_ms
        if left > 0:
            self._set(left)
            return
        self._expired = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._clock.clear_timeout(self._timer)
        # Someone else may have cancelled the task at the same moment; then it is theirs.
        if self._expired and kind is asyncio.CancelledError and self._task.uncancel() <= self._cancelling:
            raise ProviderError(Code.TIMEOUT, f"the server was silent for {self._limit_ms / 1000:g} s") from None
