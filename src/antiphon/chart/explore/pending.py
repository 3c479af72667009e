"""Delayed events of a machine as an immutable value: time without a clock."""

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Delayed:
    """An event that arrives when it is due, unless it is cancelled before."""

    due: float
    event: Any
    id: str | None
    can_be_cancelled: bool


@dataclass(frozen=True, slots=True)
class Pending:
    """A time, in milliseconds since the start, and the delayed events after it in the order they are due."""

    now: float = 0
    events: tuple[Delayed, ...] = ()

    def adding(self, event: Any, delay_ms: float, id: str | None) -> "Pending":
        """Return this with one more event; events due at the same time keep the order in which they were added."""
        waiting = self._out_of_reach(id).events
        delayed = Delayed(self.now + delay_ms, event, id, id is not None)
        place = bisect_right(waiting, delayed.due, key=_due)
        return replace(self, events=(*waiting[:place], delayed, *waiting[place:]))

    def without(self, id: str) -> "Pending":
        """Return this with the event of this id cancelled, if there is one."""
        remaining = tuple(event for event in self.events if event.id != id or not event.can_be_cancelled)
        return self if len(remaining) == len(self.events) else replace(self, events=remaining)

    @property
    def next(self) -> Delayed | None:
        """The event that is due first, or None."""
        return self.events[0] if self.events else None

    def after_next(self) -> "Pending":
        """Return this at the time the next event is due, without that event."""
        first, *later_events = self.events
        later = Pending(max(self.now, first.due), tuple(later_events))
        return later._out_of_reach(first.id)

    def at(self, now: float) -> "Pending":
        """Return this at a later time, before which no event is due."""
        return replace(self, now=now)

    def _out_of_reach(self, id: str | None) -> "Pending":
        # If an id is used twice, both events arrive and the id refers to the later one; once one has arrived,
        # the id refers to none. Actors do the same, as in XState.
        if id is None or all(event.id != id for event in self.events):
            return self
        released = tuple(replace(event, can_be_cancelled=False) if event.id == id else event for event in self.events)
        return replace(self, events=released)


def _due(event: Delayed) -> float:
    return event.due
