"""Observers of actors, selections of their snapshots, and reports of errors that no observer handles."""

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
        self.next = next
        self.error = error
        self.complete = complete


def to_observer(observer: Any, error: Any = None, complete: Any = None) -> Observer:
    """Return an observer from a function, or from an object or dict with `next`, `error` and `complete`."""
    if observer is None or callable(observer):
        return Observer(observer, error, complete)
    if isinstance(observer, dict):
        return Observer(observer.get("next"), observer.get("error"), observer.get("complete"))
    return Observer(*(getattr(observer, name, None) for name in ("next", "error", "complete")))


class Subscription:
    """Handle that ends an observation."""

    __slots__ = ("_leave",)

    def __init__(self, leave: Callable[[], Any]) -> None:
        self._leave = leave

    def unsubscribe(self) -> None:
        """Stop observing."""
        self._leave()


def report_unhandled(error: BaseException) -> None:
    """Report an error that no observer handles, without raising it.

    On an event loop it goes to the loop's exception handler, elsewhere to `sys.excepthook`.
    """
    loop = running_loop()
    if loop is None:
        sys.excepthook(type(error), error, error.__traceback__)
    else:
        loop.call_exception_handler({"message": "unhandled error in an actor", "exception": error})


def call_safely(callback: Callable[..., Any], *arguments: Any) -> None:
    """Call a callback; an error in it is reported and not raised."""
    try:
        callback(*arguments)
    except Exception as error:
        report_unhandled(error)


class Observers:
    """The observers and the listeners of one actor."""

    __slots__ = ("_listeners", "_observers")

    def __init__(self) -> None:
        self._observers: dict[Observer, None] = {}
        self._listeners: dict[str, dict[object, Callable[[Any], Any]]] = {}

    def add(self, observer: Observer) -> Subscription:
        """Add an observer."""
        self._observers[observer] = None
        return Subscription(lambda: self._observers.pop(observer, None))

    def listen(self, type: str, listener: Callable[[Any], Any]) -> Subscription:
        """Add a listener to emitted events of a type, or to all for `*`."""
        listeners = self._listeners.setdefault(type, {})
        token = object()
        listeners[token] = listener
        return Subscription(lambda: listeners.pop(token, None))

    def next(self, snapshot: Any) -> None:
        """Call the observers with a snapshot."""
        for observer in tuple(self._observers):
            if observer.next is not None:
                call_safely(observer.next, snapshot)

    def emit(self, event: Any) -> None:
        """Call the listeners with an event: those of its type first, then those of all types."""
        if not self._listeners:
            return
        for type in (event["type"], "*"):
            for listener in tuple(self._listeners.get(type, {}).values()):
                call_safely(listener, event)

    def complete(self) -> None:
        """Tell the observers that the actor has ended, and remove them."""
        observers = tuple(self._observers)
        for observer in observers:
            if observer.complete is not None:
                call_safely(observer.complete)
        self._leave()

    def fail(self, error: Any, is_root: bool) -> None:
        """Tell the observers that the actor has failed; report the error if one of them does not handle errors."""
        observers = tuple(self._observers)
        self._leave()
        for observer in observers:
            if observer.error is not None:
                call_safely(observer.error, error)
        unheard = is_root if not observers else any(observer.error is None for observer in observers)
        if unheard:
            report_unhandled(as_exception(error))

    def _leave(self) -> None:
        self._observers.clear()
        self._listeners.clear()


def as_exception(error: Any) -> BaseException:
    """Return the error as an exception."""
    return error if isinstance(error, BaseException) else RuntimeError(error)


class Selection:
    """A part of an actor's snapshots, computed by a selector."""

    __slots__ = ("_actor", "_equal", "_selector")

    def __init__(self, actor: Any, selector: Callable[[Any], Any], equal: Callable[[Any, Any], bool]) -> None:
        self._actor = actor
        self._selector = selector
        self._equal = equal

    def get(self) -> Any:
        """Return the current part."""
        return self._selector(self._actor.get_snapshot())

    def subscribe(self, observer: Any) -> Subscription:
        """Call the observer when the part changes."""
        subscriber = to_observer(observer)
        last = [self.get()]

        def compare(snapshot: Any) -> None:
            current = self._selector(snapshot)
            if not self._equal(last[0], current):
                last[0] = current
                if subscriber.next is not None:
                    subscriber.next(current)

        subscription: Subscription = self._actor.subscribe(compare)
        return subscription


def same(first: Any, second: Any) -> bool:
    """Return whether two parts are identical or equal."""
    return first is second or bool(first == second)
