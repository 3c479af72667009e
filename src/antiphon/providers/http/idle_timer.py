"""Time limit between the deltas of a stream, with one timer for the whole stream."""

import asyncio
from types import TracebackType
from typing import Any, Self

from antiphon.errors import Code
from antiphon.providers.clock import ProviderClock
from antiphon.providers.errors import ProviderError


class IdleTimer:
    """Cancels the waiting task when the time is up, and turns the cancellation into a timeout error.

    Time counts only while the task waits for the server, so a slow reader does not cause a timeout.
    The timer is not moved with every delta; if it fires too early it is set again.
    """

    __slots__ = ("_cancelling", "_clock", "_due", "_expired", "_fires", "_limit_ms", "_task", "_timer", "_waiting")

    def __init__(self, clock: ProviderClock, limit_ms: float) -> None:
        self._clock = clock
        self._limit_ms = limit_ms
        self._expired = False
        self._timer: Any = None
        self._fires = float("inf")

    def __enter__(self) -> Self:
        self.start(self._limit_ms)
        return self

    def start(self, limit_ms: float) -> None:
        """Start waiting, with a new limit."""
        self._limit_ms = limit_ms
        self._due = self._clock.now() + limit_ms
        # Only a shorter limit requires moving the timer.
        if self._due < self._fires:
            self._set(limit_ms)
        self.resume()

    def resume(self) -> None:
        """Continue waiting, with the time that remains."""
        task = asyncio.current_task()
        assert task is not None, "a stream is read by a task"
        self._task = task
        self._cancelling = task.cancelling()
        self._waiting = True

    def pause(self) -> None:
        """Stop counting time until the next `start` or `resume`."""
        self._waiting = False

    def _set(self, delay_ms: float) -> None:
        if self._timer is not None:
            self._clock.clear_timeout(self._timer)
        self._fires = self._clock.now() + delay_ms
        self._timer = self._clock.set_timeout(self._check, delay_ms)

    def _check(self) -> None:
        self._timer = None
        remaining_ms = self._due - self._clock.now() if self._waiting else self._limit_ms
        if remaining_ms > 0:
            self._set(remaining_ms)
            return
        self._expired = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._clock.clear_timeout(self._timer)
        # If the task was also cancelled by someone else, that cancellation goes on.
        if self._expired and kind is asyncio.CancelledError and self._task.uncancel() <= self._cancelling:
            raise ProviderError(Code.TIMEOUT, f"the server was silent for {self._limit_ms / 1000:g} s") from None
