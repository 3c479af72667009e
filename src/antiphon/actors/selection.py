"""Selections: parts of an actor's snapshots, observed only when they change."""

from collections.abc import Callable
from typing import Any

from antiphon.actors.observers import Subscription, to_observer


class Selection:
    """A part of an actor's snapshots."""

    __slots__ = ("_actor", "_equal", "_selector")

    def __init__(self, actor: Any, selector: Callable[[Any], Any], equal: Callable[[Any, Any], bool]) -> None:
        self._actor, self._selector, self._equal = actor, selector, equal

    def get(self) -> Any:
        """The part as it is now."""
        return self._selector(self._actor.get_snapshot())

    def subscribe(self, observer: Any) -> Subscription:
        """Be called when the part changes."""
        told, last = to_observer(observer), [self.get()]

        def compare(snapshot: Any) -> None:
            current = self._selector(snapshot)
            if not self._equal(last[0], current):
                last[0] = current
                if told.next is not None:
                    told.next(current)

        subscription: Subscription = self._actor.subscribe(compare)
        return subscription


def same(left: Any, right: Any) -> bool:
    """Whether two parts are the same or equal."""
    return left is right or bool(left == right)
