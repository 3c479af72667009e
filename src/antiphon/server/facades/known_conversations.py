"""Conversations that clients send whole with each request, and the threads that have them."""

from collections import OrderedDict
from typing import NamedTuple

MOST_REMEMBERED = 10_000


class Position(NamedTuple):
    """A message of a thread, after which a conversation continues."""

    thread: str
    message: str | None


class KnownConversations:
    """The latest conversations by their digest: a client that sends one again continues its thread."""

    def __init__(self) -> None:
        self._positions: OrderedDict[str, Position] = OrderedDict()

    def find(self, digest: str) -> Position | None:
        """Return where a conversation stands, or None."""
        return self._positions.get(digest)

    def remember(self, digest: str, position: Position) -> None:
        """Note where a conversation stands; the oldest is forgotten."""
        self._positions[digest] = position
        self._positions.move_to_end(digest)
        if len(self._positions) > MOST_REMEMBERED:
            self._positions.popitem(last=False)
