"""Requests of a thread to a person: those of its content, and its own."""

from typing import Any

from antiphon.threads.machine.thread_events import RequestJson, WaitingReason

PROVIDER_ERROR: WaitingReason = "provider_error"


def own_request(number: int, reason: WaitingReason | None) -> RequestJson:
    """Return the request of a thread that waits without a request of its content."""
    return {"id": f"wait-{number}", "address": "", "reason": reason or "question"}


def key_request(number: int, error: Any) -> RequestJson:
    """Return the request for a key that is missing, with the message of the error as its text."""
    return {**own_request(number, PROVIDER_ERROR), "question": str(error.get("message") or "")}


def is_for_key(request: RequestJson) -> bool:
    """Return whether a request is for a key."""
    return request["reason"] == PROVIDER_ERROR and not request["address"] and "question" in request


def below(content: str, request: RequestJson) -> RequestJson:
    """Return a request of the content with its address below the thread."""
    return {**request, "address": "/".join(part for part in (content, request["address"]) if part)}
