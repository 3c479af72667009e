"""What goes wrong with a reply, and when it is asked for again."""

from collections.abc import Mapping
from typing import Any

from antiphon.errors import Code
from antiphon.threads.machine.streaming_budget import has_budget
from antiphon.threads.machine.streaming_types import Failure, StreamingContext

Event = Mapping[str, Any]
JITTER_SHARE = 0.25
# A call whose end nobody saw may have been paid for: a person decides whether to repeat it.
UNSEEN = ("interrupted", "unknown")


def set_error(context: StreamingContext, event: Event) -> Failure:
    """The error that an event reports."""
    error: Failure = {"code": event["code"], "message": event["message"], "recoverable": event["recoverable"]}
    if event.get("retryAfterMs") is not None:
        error["retryAfterMs"] = event["retryAfterMs"]
    return error


def set_actor_error(context: StreamingContext, event: Event) -> Failure:
    """The error that the running call itself ended with."""
    error = event["error"]
    # A durable host tells of errors as JSON, a host in this process passes the exception on.
    told: Mapping[str, Any] = error if isinstance(error, Mapping) else {"message": str(error)}
    message = told.get("message") or "Failed to send message"
    return {
        "code": told.get("code") or Code.NETWORK.value,
        "message": message,
        "recoverable": told.get("recoverable", True),
    }


def set_truncated() -> Failure:
    """The running call is over, and nobody said that the reply is complete."""
    return {"code": Code.TRUNCATED.value, "message": "The reply ended before it was complete", "recoverable": True}


def set_timeout_error(context: StreamingContext, event: Event, params: Mapping[str, Any]) -> Failure:
    """Nothing came for too long."""
    limits: Mapping[str, Any] = {**context["settings"]}
    return {
        "code": Code.TIMEOUT.value,
        "message": f"Nothing came for {limits[params['limit']]} ms",
        "recoverable": True,
    }


def set_budget_error(context: StreamingContext) -> Failure:
    """The money is spent."""
    budget = context["settings"]["budgetUsd"]
    return {"code": Code.QUOTA.value, "message": f"The budget of {budget} USD is spent", "recoverable": False}


def plan_retry(context: StreamingContext, event: Event) -> float | None:
    """How long to wait before the next automatic attempt; nothing if there is none."""
    error, settings, attempt = context["error"], context["settings"], context["attempt"]
    if error is None or not error["recoverable"] or error["code"] in UNSEEN or attempt >= settings["maxAttempts"]:
        return None
    if (context["text"] or context["thinking"] or context["tools"]) and not settings["retryAfterDelta"]:
        return None
    jitter: float = event.get("jitter", 0)
    delay = error.get("retryAfterMs", settings["backoffMs"] * 2**attempt * (1 + jitter * JITTER_SHARE))
    return delay if delay <= settings["longestRetryMs"] and has_budget(context) else None


def can_auto_retry(context: StreamingContext) -> bool:
    """Whether the machine will try again by itself."""
    return context["retryDelayMs"] is not None


def can_retry(context: StreamingContext) -> bool:
    """Whether there is something to ask again, and something left to spend."""
    return bool(context["messages"]) and has_budget(context)
