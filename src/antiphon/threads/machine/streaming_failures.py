"""Errors of a reply, and automatic retries."""

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from antiphon.errors import Code
from antiphon.threads.machine.streaming_budget import has_budget
from antiphon.threads.machine.streaming_types import (
    CallError,
    Failure,
    StreamError,
    StreamingChanges,
    StreamingContext,
    StreamingFields,
)

JITTER_SHARE = 0.25
# A call whose end was not observed may have been paid for: a person decides whether to repeat it.
UNSEEN = ("interrupted", "unknown")


class TimeoutParams(TypedDict):
    """The setting whose limit has passed."""

    limit: Literal["firstEventMs", "inactivityMs"]


def set_error(context: StreamingContext, event: StreamError) -> StreamingChanges:
    """Record the error that an event reports."""
    error: Failure = {"code": event["code"], "message": event["message"], "recoverable": event["recoverable"]}
    if event.get("retryAfterMs") is not None:
        error["retryAfterMs"] = event["retryAfterMs"]
    return {"error": error}


def set_actor_error(context: StreamingContext, event: CallError) -> StreamingChanges:
    """Record the error that the running call ended with."""
    error = event["error"]
    # A durable host reports errors as JSON; a host in this process passes the exception itself.
    details: Mapping[str, Any] = error if isinstance(error, Mapping) else {"message": str(error)}
    return {
        "error": {
            "code": details.get("code") or Code.NETWORK.value,
            "message": details.get("message") or "Failed to send message",
            "recoverable": details.get("recoverable", True),
        }
    }


def set_truncated() -> StreamingChanges:
    """Record that the call ended without completing the reply."""
    message = "The reply ended before it was complete"
    return {"error": {"code": Code.TRUNCATED.value, "message": message, "recoverable": True}}


def set_timeout_error(context: StreamingContext, event: StreamingFields, params: TimeoutParams) -> StreamingChanges:
    """Record that no event arrived within a limit."""
    message = f"Nothing came for {context['settings'][params['limit']]} ms"
    return {"error": {"code": Code.TIMEOUT.value, "message": message, "recoverable": True}}


def set_budget_error(context: StreamingContext) -> StreamingChanges:
    """Record that the budget is spent."""
    message = f"The budget of {context['settings']['budgetUsd']} USD is spent"
    return {"error": {"code": Code.QUOTA.value, "message": message, "recoverable": False}}


def plan_retry(context: StreamingContext, event: StreamingFields) -> StreamingChanges:
    """Set the delay before the next automatic attempt, or None if there is none."""
    return {"retryDelayMs": _retry_delay_ms(context, event.get("jitter", 0))}


def _retry_delay_ms(context: StreamingContext, jitter: float) -> float | None:
    error = context["error"]
    settings = context["settings"]
    attempt = context["attempt"]
    if error is None or not error["recoverable"] or error["code"] in UNSEEN or attempt >= settings["maxAttempts"]:
        return None
    if (context["text"] or context["thinking"] or context["tools"]) and not settings["retryAfterDelta"]:
        return None
    delay_ms = error.get("retryAfterMs", settings["backoffMs"] * 2**attempt * (1 + jitter * JITTER_SHARE))
    return delay_ms if delay_ms <= settings["longestRetryMs"] and has_budget(context) else None


def can_auto_retry(context: StreamingContext) -> bool:
    """Return whether the machine will try again by itself."""
    return context["retryDelayMs"] is not None


def can_retry(context: StreamingContext) -> bool:
    """Return whether there is a request to repeat, and budget left for it."""
    return bool(context["messages"]) and has_budget(context)
