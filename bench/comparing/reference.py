"""Work that no checkout has a part in: how fast the processor is at this moment.

On a shared computer the same code takes up to twice as long for some milliseconds, because others use the same core.
A slice of measured work is therefore given in units of the reference before and after it. Half of it is arithmetic in
registers, half of it calls, dicts and strings, so that it suffers from others about as much as the measured code does.
"""

from __future__ import annotations

from time import process_time
from typing import Any

SUMS, STEPS = 1000, 100  # about 150 µs together


class Place:
    """A place in a graph, with the places that events lead to."""

    __slots__ = ("key", "on")

    def __init__(self, key: str) -> None:
        self.key = key
        self.on: dict[str, Place] = {}

    def take(self, event: dict[str, Any], context: dict[str, Any]) -> tuple[Place, dict[str, Any]]:
        """Go where an event leads, with a new context."""
        return self.on[event["type"]], {**context, "count": context["count"] + 1, "last": event["type"]}


EVENTS = [{"type": f"EVENT_{number}", "text": "x" * number} for number in range(8)]
PLACES = [Place(f"place-{number}") for number in range(64)]
for number, place in enumerate(PLACES):
    for shift, event in enumerate(EVENTS):
        place.on[event["type"]] = PLACES[(number * 7 + shift * 13 + 1) % len(PLACES)]


def add_squares() -> int:
    """Sum up squares."""
    total = 0
    for number in range(SUMS):
        total += number * number
    return total


def wander() -> dict[str, str]:
    """Follow events through the graph and keep the way."""
    place = PLACES[0]
    context: dict[str, Any] = {"count": 0, "last": None}
    way = []
    for step in range(STEPS):
        place, context = place.take(EVENTS[step % len(EVENTS)], context)
        way.append((place.key, f"{place.key}:{step}"))
    return dict(way)


def time_reference() -> float:
    """CPU seconds that the reference takes now."""
    began = process_time()
    add_squares()
    wander()
    return process_time() - began
