"""Delayed calls of a system that is used where no event loop runs."""

from collections.abc import Callable
from typing import Any

from antiphon.actors.clock import Clock
from antiphon.actors.loop import running_loop


class HeldCall:
    """A delayed call; `handle` is that of the clock, once an event loop has taken the call over."""

    __slots__ = ("callback", "due", "handle")

    def __init__(self, callback: Callable[[], None], due: float) -> None:
        self.callback = callback
        self.due = due
        self.handle: Any = None


class HeldCalls:
    """The delayed calls that wait for the next event, in the order in which they are due."""

    __slots__ = ("_clock", "_waiting")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: list[HeldCall] = []

    def add(self, callback: Callable[[], None], delay_ms: float) -> HeldCall:
        """Hold a call until it is due."""
        call = HeldCall(callback, self._clock.now() + delay_ms)
        self._waiting.append(call)
        self._waiting.sort(key=_due)
        return call

    def cancel(self, call: HeldCall) -> None:
        """Forget a call that waits, here or in the event loop."""
        if call.handle is not None:
            self._clock.clear_timeout(call.handle)
        else:
            self._waiting.remove(call)

    def release(self) -> None:
        """Make the calls that are due; if an event loop runs now, it takes the others over."""
        now = self._clock.now()
        while self._waiting and self._waiting[0].due <= now:
            self._waiting.pop(0).callback()
        if running_loop() is not None:
            for call in self._waiting:
                call.handle = self._clock.set_timeout(call.callback, call.due - now)
            self._waiting.clear()

    def __bool__(self) -> bool:
        return bool(self._waiting)


def _due(call: HeldCall) -> float:
    return call.due
