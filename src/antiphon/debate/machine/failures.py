"""Errors of a debate: their types, and the errors of services, debaters, rounds and the judge."""

from collections.abc import Mapping
from typing import cast

from antiphon.debate.machine.context import DebateContext, DebateError, DebateUpdate, ErrorType
from antiphon.debate.machine.events import (
    DebaterFields,
    ErrorReported,
    JudgeEvent,
    OverLimitFields,
    ServiceFailed,
)
from antiphon.debate.machine.speakers import missing_speakers, speaker_of, speaker_of_request
from antiphon.errors import Code
from antiphon.threads.machine.content import is_key_missing
from antiphon.threads.machine.streaming_types import ReplyFailed

LOST = "the process that ran the debate was lost"
MOST_RETRIES = 3
"""Number of times that a failed debate can be retried."""
UNSEEN = ("interrupted", "unknown")
UNREACHABLE = frozenset({Code.NETWORK, Code.OVERLOADED, Code.TRUNCATED})


def code_of(error: object) -> str | None:
    """Return the code of an error, which may be JSON or an exception."""
    code: object = error.get("code") if isinstance(error, Mapping) else getattr(error, "code", None)
    return None if code is None else str(code)


def error_type(code: str | None) -> ErrorType:
    """Return the type of an error by its code."""
    if code == Code.TIMEOUT:
        return "timeout"
    return "network" if code in UNREACHABLE or code in UNSEEN else "model_error"


def failure(
    type: ErrorType,
    message: str,
    *,
    retryable: bool,
    at: float | None = None,
    participant: str | None = None,
    field: str | None = None,
    code: str | None = None,
) -> DebateError:
    """Create an error; facts that are None are left out."""
    error: DebateError = {"type": type, "message": message, "retryable": retryable, "timestamp": at}
    if participant is not None:
        error["participantId"] = participant
    if field is not None:
        error["field"] = field
    if code is not None:
        error["code"] = code
    return error


def can_retry(context: DebateContext) -> bool:
    """Return whether the last error is worth another attempt, and attempts are left."""
    error = context["lastError"]
    return error is not None and error["retryable"] and context["retryCount"] < MOST_RETRIES


def count_retry(context: DebateContext) -> DebateUpdate:
    """Count an attempt after an error."""
    return {"retryCount": context["retryCount"] + 1}


def set_error(context: DebateContext, event: ErrorReported) -> DebateUpdate:
    """Set the error of an event."""
    at = event.get("at", context["lastAt"])
    return {"lastError": cast(DebateError, {"timestamp": at, **event["error"]})}


def set_service_error(context: DebateContext, event: ServiceFailed) -> DebateUpdate:
    """Set the error of an actor that has failed."""
    error = event["error"]
    code = code_of(error)
    if isinstance(error, Mapping):
        message = str(error.get("message"))
        recoverable = bool(error.get("recoverable", True))
    else:
        message = str(error)
        recoverable = bool(getattr(error, "recoverable", True))
    retryable = recoverable or is_key_missing(error)
    return {"lastError": failure(error_type(code), message, retryable=retryable, at=context["lastAt"], code=code)}


def is_loss(context: DebateContext, event: ServiceFailed) -> bool:
    """Return whether an actor was lost with its process."""
    return code_of(event.get("error")) in UNSEEN


def note_loss(context: DebateContext, event: ServiceFailed) -> DebateUpdate:
    """Note the loss of the process: a person has to resume the debate."""
    return {"lost": True, "lastError": failure("network", LOST, retryable=True, code="interrupted")}


def set_reply_error(context: DebateContext, event: ReplyFailed) -> DebateUpdate:
    """Set the error of a debater without whom the debate cannot continue."""
    error = event["error"]
    return {
        "lastError": failure(
            error_type(error["code"]),
            error["message"],
            retryable=bool(error["recoverable"]) or is_key_missing(error),
            at=context["lastAt"],
            participant=speaker_of_request(event["requestId"]),
            code=error["code"],
        )
    }


def set_debater_timeout(context: DebateContext, event: DebaterFields) -> DebateUpdate:
    """Set the error of a debater that did not answer in time."""
    id = speaker_of(context, event)
    message = f"{id} did not answer in time"
    return {"lastError": failure("timeout", message, retryable=True, at=context["lastAt"], participant=id)}


def set_round_timeout(context: DebateContext) -> DebateUpdate:
    """Set the error of a round that took too long."""
    id = next(iter(missing_speakers(context)), None)
    message = f"round {context['currentRound']} was not over after {context['config']['timeoutPerRound']} s"
    return {"lastError": failure("timeout", message, retryable=True, at=context["lastAt"], participant=id)}


def set_judge_timeout(context: DebateContext) -> DebateUpdate:
    """Set the error of a judge that did not answer in time."""
    judge = context["judge"]["id"] if context["judge"] else "judge"
    message = "the judge did not answer in time"
    return {"lastError": failure("timeout", message, retryable=True, at=context["lastAt"], participant=judge)}


def set_judge_error(context: DebateContext, event: JudgeEvent) -> DebateUpdate:
    """Set the error of a judge without a usable verdict; it may be asked again."""
    error = (event["output"] or {}).get("error") or {}
    code = error.get("code")
    message = error.get("message") or "the judge gave no verdict"
    return {"lastError": failure(error_type(code), message, retryable=True, at=context["lastAt"], code=code)}


def set_nothing_said(context: DebateContext) -> DebateUpdate:
    """Set the error of a debate that has nothing to judge."""
    message = "nobody has said anything, so there is nothing to judge"
    return {"lastError": failure("model_error", message, retryable=False, at=context["lastAt"])}


def set_cost_limit_error(context: DebateContext, event: OverLimitFields) -> DebateUpdate:
    """Set the error of a cost limit that is reached, or would be by the next call."""
    error = failure("cost_limit", "Cost limit exceeded", retryable=False, at=context["lastAt"])
    estimate = event.get("estimate") if event["type"] == "COST_LIMIT" else None
    if estimate:
        error["estimate"] = estimate
    return {"lastError": error}
