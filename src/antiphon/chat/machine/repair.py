"""Repair of conversations that were cut between a tool call and its result."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.threads.machine.content import calls_of

CANCELLED = "cancelled"
Json = Mapping[str, Any]


def repair_messages(messages: Sequence[Json]) -> list[Json]:
    """Add a result for every tool call without one, and drop results that belong to no call.

    An added result says `cancelled`, and follows the results that there are.
    """
    repaired: list[Json] = []
    open_calls: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            parts = [part for part in message["parts"] if part.get("callId") in open_calls]
            answered = {part["callId"] for part in parts}
            open_calls = [id for id in open_calls if id not in answered]
            if parts:
                repaired.append(message if len(parts) == len(message["parts"]) else {**message, "parts": parts})
            continue
        # Notes of the system may stand between a call and its result.
        if message["role"] != "system":
            repaired.extend(_cancelled_results(open_calls))
            open_calls = [call["id"] for call in calls_of(message["parts"])] if message["role"] == "assistant" else []
        repaired.append(message)
    return [*repaired, *_cancelled_results(open_calls)]


def _cancelled_results(ids: list[str]) -> list[Json]:
    if not ids:
        return []
    text = [{"type": "text", "text": CANCELLED}]
    results = [{"type": "toolResult", "callId": id, "parts": text, "isError": True} for id in ids]
    return [{"role": "tool", "parts": results}]
