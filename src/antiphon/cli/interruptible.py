"""Interruptible waits: block the main thread on background work until it ends or Ctrl-C is pressed."""

import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from antiphon.background_loop import BackgroundLoop
from antiphon.cli.prompt import discard_typed_input, no_echo

SECOND_PRESS_S = 2.0
T = TypeVar("T")


class Quit(Exception):
    """Raised when the user wants to leave."""


class InterruptibleWait:
    """Waits for background work; Ctrl-C asks it to stop, and a second press soon after raises `Quit`."""

    def __init__(
        self,
        background: BackgroundLoop,
        stop: Callable[[], Coroutine[Any, Any, object]],
        *,
        second_press_s: float = SECOND_PRESS_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._background = background
        self._stop = stop
        self._second_press_s = second_press_s
        self._now = now

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` on the background loop and return its result."""
        last_press: float | None = None
        with no_echo():
            future: Future[T] | None = None
            while True:
                try:
                    if future is None:
                        future = self._background.submit(work)
                    return future.result()
                except KeyboardInterrupt:
                    now = self._now()
                    if last_press is not None and now - last_press < self._second_press_s:
                        raise Quit from None
                    last_press = now
                    discard_typed_input()
                    self._background.submit(self._stop())
