"""Signals of a command on its event loop.

1. A press of Ctrl-C goes to whatever waits now: a prompt, or work that it stops. It never ends the command by itself.
2. SIGTERM and SIGHUP cancel the command, so that it restores the terminal before it ends.
"""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Any

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Signals:
    """Handles the signals of the running command; a context manager, used in the task of the command."""

    def __init__(self) -> None:
        self._handlers: list[Callable[[], None]] = []
        self._received: int | None = None  # the signal that ends the command
        self._loop: asyncio.AbstractEventLoop | None = None
        self._previous: dict[int, Any] = {}

    @contextmanager
    def handled_by(self, on_press: Callable[[], None]) -> Iterator[None]:
        """Call `on_press` for each Ctrl-C until the end of the block."""
        self._handlers.append(on_press)
        try:
            yield
        finally:
            self._handlers.remove(on_press)

    def press(self) -> None:
        """Handle a press of Ctrl-C."""
        if self._handlers:
            self._handlers[-1]()

    def __enter__(self) -> "Signals":
        task = asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            self._received = number
            task.cancel()

        self._loop = asyncio.get_running_loop()
        self._handle(signal.SIGINT, self.press)
        for number in ENDING:
            self._handle(number, partial(end, number))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._loop is not None
        for number, previous in self._previous.items():
            self._loop.remove_signal_handler(number)
            signal.signal(number, previous)
        if self._received is not None and isinstance(error, asyncio.CancelledError):
            raise SystemExit(128 + self._received) from None

    def _handle(self, number: int, handle: Callable[[], None]) -> None:
        assert self._loop is not None
        previous = signal.getsignal(number)
        try:
            self._loop.add_signal_handler(number, handle)
        except (NotImplementedError, RuntimeError, ValueError):  # not on every platform, nor on other threads
            return
        self._previous[number] = previous
