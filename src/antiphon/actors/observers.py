"""Who watches an actor, and where their errors go."""

import sys
from collections.abc import Callable
from typing import Any

from antiphon.actors.loop import running_loop


class Observer:
    """Callbacks for an actor's snapshots, its error and its end."""

    __slots__ = ("complete", "error", "next")

    def __init__(
        self,
        next: Callable[[Any], Any] | None = None,
        error: Callable[[Any], Any] | None = None,
        complete: Callable[[], Any] | None = None,
    ) -> None:
        self.next, self.error, self.complete = next, error, complete


def to_observer(given: Any, error: Any = None, complete: Any = None) -> Observer:
    """An observer from a function, or from an object or dict with `next`, `error` and `complete`."""
    if given is None or callable(given):
        return Observer(given, error, complete)
    if isinstance(given, dict):
        return Observer(given.get("next"), given.get("error"), given.get("complete"))
    return Observer(*(getattr(given, name, None) for name in ("next", "error", "complete")))


class Subscription:
    """An observer's way out."""

    __slots__ = ("_leave",)

    def __init__(self, leave: Callable[[], Any]) -> None:
        self._leave = leave

    def unsubscribe(self) -> None:
        """Observe no more."""
        self._leave()


def report_unhandled(error: BaseException) -> None:
    """Report an error that nobody asked to hear of, without disturbing who is running.

    On an event loop it goes to the loop's exception handler, elsewhere to `sys.excepthook`.
    """
    loop = running_loop()
    if loop is None:
        sys.excepthook(type(error), error, error.__traceback__)
    else:
        loop.call_exception_handler({"message": "unhandled error in an actor", "exception": error})


def guarded(callback: Callable[..., Any], *arguments: Any) -> None:
    """Call an observer; its error is reported and goes no further."""
    try:
        callback(*arguments)
    except Exception as error:
        report_unhandled(error)
