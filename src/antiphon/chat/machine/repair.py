"""Conversations that were cut between a tool call and its result, made whole again."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.threads.machine.content import calls_of

CANCELLED = "cancelled"
Json = Mapping[str, Any]


def mended(messages: Sequence[Json]) -> list[Json]:
    """The messages with a result for every tool call, and without results that nobody asked for.

    Calls without a result get one that says `cancelled`, right behind the results that there are.
    """
    found: list[Json] = []
    open_calls: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            parts = [part for part in message["parts"] if part.get("callId") in open_calls]
            given = {part["callId"] for part in parts}
            open_calls = [id for id in open_calls if id not in given]
            if parts:
                found.append(message if len(parts) == len(message["parts"]) else {**message, "parts": parts})
            continue
        # Notes of the system may stand between a call and its result.
        if message["role"] != "system":
            found.extend(_cancelled(open_calls))
            open_calls = [call["id"] for call in calls_of(message["parts"])] if message["role"] == "assistant" else []
        found.append(message)
    return [*found, *_cancelled(open_calls)]


def _cancelled(ids: list[str]) -> list[Json]:
    if not ids:
        return []
    shown = [{"type": "text", "text": CANCELLED}]
    return [
        {
            "role": "tool",
            "parts": [{"type": "toolResult", "callId": id, "parts": shown, "isError": True} for id in ids],
        }
    ]
