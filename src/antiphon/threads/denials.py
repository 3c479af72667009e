"""Tool calls that were denied, read from the results that the machines keep in messages.

A call that was denied is never made: its result is an error that begins with `NOT_ALLOWED`, and gives the reason.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from antiphon.threads.machine.content import text_of

NOT_ALLOWED = "not allowed: "


def denial_of(part: Mapping[str, Any]) -> str | None:
    """Return why a call was denied, by the part of a message with its result; None if it was not."""
    text = text_of(part["parts"]) if part.get("type") == "toolResult" and part.get("isError") else ""
    return text.removeprefix(NOT_ALLOWED) if text.startswith(NOT_ALLOWED) else None


def find_denials(messages: Iterable[Mapping[str, Any]], ids: Collection[str]) -> dict[str, str]:
    """Return the reasons of those of some calls that were denied, by their ids; the latest result of an id counts."""
    results = {
        part["callId"]: denial_of(part)
        for message in messages
        for part in message["parts"]
        if part.get("type") == "toolResult" and part["callId"] in ids
    }
    return {id: reason for id, reason in results.items() if reason is not None}


def agent_messages(snapshot: Mapping[str, Any], agent: str) -> list[Mapping[str, Any]]:
    """Return the conversation of an agent that is at work, from the snapshot of its run's thread."""
    actor: Any = snapshot
    for name in ("run", "executeAgent", agent):
        child = actor["children"].get(name)
        if child is None:
            return []
        actor = child["snapshot"]
    messages: list[Mapping[str, Any]] = actor["context"]["messages"]
    return messages
