"""Waiting on the main thread for work of the background loop, with an ear for Ctrl-C."""

import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from antiphon.cli.loop import Background
from antiphon.cli.prompt import forget_typed, unechoed

TWICE_S = 2.0
T = TypeVar("T")


class Quit(Exception):
    """The person has had enough."""


class Patience:
    """Waits for work; Ctrl-C asks it to stop, and a second one soon after it quits."""

    def __init__(
        self,
        background: Background,
        stop: Callable[[], Coroutine[Any, Any, object]],
        *,
        twice_s: float = TWICE_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._background, self._stop, self._twice_s, self._now = background, stop, twice_s, now

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for something to its end; `Quit` when nobody wants to wait any more."""
        pressed: float | None = None
        with unechoed():
            future = self._background.submit(work)
            while True:
                try:
                    return future.result()
                except KeyboardInterrupt:
                    now = self._now()
                    if pressed is not None and now - pressed < self._twice_s:
                        raise Quit from None
                    pressed = now
                    forget_typed()
                    self._background.submit(self._stop())
