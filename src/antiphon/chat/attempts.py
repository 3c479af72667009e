"""Further attempts at a reply that has failed."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Attempt(NamedTuple):
    """The next attempt at a reply, and the delay before it."""

    number: int
    most: int
    delay_ms: float


def attempt_of(snapshot: Mapping[str, Any]) -> Attempt | None:
    """Return the attempt that a failed reply waits for, from the snapshot of its chat; or None."""
    chat = snapshot["children"].get("chat")
    reply = chat["snapshot"]["children"].get("reply") if chat else None
    context = reply["snapshot"]["context"] if reply else {}
    if context.get("retryDelayMs") is None:
        return None
    # The machine counts automatic attempts from 0; people count the first request as well.
    return Attempt(context["attempt"] + 2, context["settings"]["maxAttempts"] + 1, context["retryDelayMs"])
