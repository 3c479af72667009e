"""Buffer for events that arrive before their request begins."""

from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any

Event = Mapping[str, Any]


class EventBuffer:
    """Bounded buffer for events of requests that have not begun; it drops the oldest events and requests."""

    __slots__ = ("_held", "_most_events", "_most_requests", "dropped")

    def __init__(self, most_events: int = 1_000, most_requests: int = 100) -> None:
        self._held: OrderedDict[str, deque[Event]] = OrderedDict()
        self._most_events = most_events
        self._most_requests = most_requests
        self.dropped = 0

    def hold(self, request_id: str, event: Event) -> None:
        """Keep an event until its request begins."""
        events = self._held.setdefault(request_id, deque(maxlen=self._most_events))
        self.dropped += len(events) == self._most_events
        events.append(event)
        if len(self._held) > self._most_requests:
            _, oldest = self._held.popitem(last=False)
            self.dropped += len(oldest)

    def take(self, request_id: str) -> list[Event]:
        """Remove and return the events of a request, in order."""
        return list(self._held.pop(request_id, ()))
