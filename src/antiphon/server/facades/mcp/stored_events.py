"""Messages of one session that were sent to its client, so that a cut stream is resumed from its last id.

The library gives all sessions of a server one store, and tells it only the number of a request, which other sessions
use as well. Here each session has a store of its own (`sessions.py`), so that none can read another's messages.
"""

from collections import OrderedDict

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage

MOST_EVENTS = 500
MOST_CHARACTERS = 1_000_000


class StoredEvents(EventStore):
    """The last messages of a session."""

    def __init__(self) -> None:
        self._events: OrderedDict[int, tuple[str, JSONRPCMessage | None, int]] = OrderedDict()
        self._last = 0
        self._characters = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Store a message of a stream and return its id; the oldest messages are dropped when there are too many."""
        size = 0 if message is None else len(message.model_dump_json(by_alias=True, exclude_unset=True))
        self._last += 1
        self._events[self._last] = (stream_id, message, size)
        self._characters += size
        while len(self._events) > MOST_EVENTS or (self._characters > MOST_CHARACTERS and len(self._events) > 1):
            _, (_, _, dropped) = self._events.popitem(last=False)
            self._characters -= dropped
        return str(self._last)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send the messages of a stream after one of its ids; return the stream, or None for an id that is gone."""
        number = int(last_event_id) if last_event_id.isdecimal() and len(last_event_id) < 16 else 0
        if number not in self._events:
            return None
        stream = self._events[number][0]
        later = [(id, message) for id, (name, message, _) in self._events.items() if id > number and name == stream]
        for id, message in later:
            if message is not None:
                await send_callback(EventMessage(message, str(id)))
        return stream
