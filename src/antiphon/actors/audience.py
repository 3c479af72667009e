"""An actor's audience: observers of its snapshots, listeners to what it emits."""

from collections.abc import Callable
from typing import Any

from antiphon.actors.observers import Observer, Subscription, guarded, report_unhandled


class Audience:
    """Who watches one actor."""

    __slots__ = ("_listeners", "_observers")

    def __init__(self) -> None:
        self._observers: dict[Observer, None] = {}
        self._listeners: dict[str, dict[object, Callable[[Any], Any]]] = {}

    def add(self, observer: Observer) -> Subscription:
        """Take in an observer."""
        self._observers[observer] = None
        return Subscription(lambda: self._observers.pop(observer, None))

    def listen(self, type: str, listener: Callable[[Any], Any]) -> Subscription:
        """Take in a listener to a type of emitted events, or to all for `*`."""
        listeners, token = self._listeners.setdefault(type, {}), object()
        listeners[token] = listener
        return Subscription(lambda: listeners.pop(token, None))

    def next(self, snapshot: Any) -> None:
        """Show a snapshot."""
        for observer in tuple(self._observers):
            if observer.next is not None:
                guarded(observer.next, snapshot)

    def emit(self, event: Any) -> None:
        """Give an event to who listens: to its type first, then to everything."""
        if not self._listeners:
            return
        for type in (event["type"], "*"):
            for listener in tuple(self._listeners.get(type, {}).values()):
                guarded(listener, event)

    def complete(self) -> None:
        """Say that the actor has ended, and send everyone home."""
        observers = tuple(self._observers)
        for observer in observers:
            if observer.complete is not None:
                guarded(observer.complete)
        self._leave()

    def fail(self, error: Any, is_root: bool) -> None:
        """Say that the actor has failed; an error that nobody handles is reported."""
        observers = tuple(self._observers)
        self._leave()
        for observer in observers:
            if observer.error is not None:
                guarded(observer.error, error)
        unheard = is_root if not observers else any(observer.error is None for observer in observers)
        if unheard:
            report_unhandled(as_exception(error))

    def _leave(self) -> None:
        self._observers.clear()
        self._listeners.clear()


def as_exception(error: Any) -> BaseException:
    """The error as something that can be reported."""
    return error if isinstance(error, BaseException) else RuntimeError(error)
