"""The streaming machine: one conversation with a model, its replies arriving piece by piece.

1. Every stream event may name its request; one that names another than the current is counted and ignored.
2. The running call is the child `stream`. It is started with the transition into `sending`, survives the one into
   `streaming`, and is stopped on the way out of both. Unless another `streamReply` is provided, it does nothing.
3. Time, randomness and prices come with events: `at`, `jitter`, `costUsd`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from antiphon.chart.actions import Action, Enqueue, assign, enqueue_actions, spawn_child, stop_child
from antiphon.chart.checks.event_types import EventTypes
from antiphon.chart.guards import and_
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup
from antiphon.chart.text import GrowingText
from antiphon.threads.machine import streaming_budget as budget
from antiphon.threads.machine import streaming_failures as failures
from antiphon.threads.machine import streaming_reply as reply
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.streaming_types import (
    COMMANDS,
    Chunk,
    RequestStarted,
    SendPrompt,
    State,
    StreamEvent,
    StreamingContext,
    StreamingEvent,
    StreamingFields,
)

_Enqueue = Enqueue[StreamingContext, StreamingEvent]


def is_current_request(context: StreamingContext, event: StreamingFields) -> bool:
    """Return whether an event belongs to the current request; one that names no request does."""
    request_id = event.get("requestId")
    return request_id is None or request_id == context["requestId"]


def is_stale(context: StreamingContext, event: StreamingFields) -> bool:
    """Return whether an event belongs to another request."""
    return not is_current_request(context, event)


def is_own_request(context: StreamingContext, event: RequestStarted) -> bool:
    """Return whether the id is that of the current request, or may become it."""
    return context["requestId"] is None or event["requestId"] == context["requestId"]


def is_silent(context: StreamingContext) -> bool:
    """Return whether no event has arrived since the last look."""
    return context["streamEvents"] == context["eventsAtLook"]


def is_cancelled(context: StreamingContext) -> bool:
    """Return whether the latest reply was cancelled."""
    return context["cancelled"]


def must_report(context: StreamingContext) -> bool:
    """Return whether a parent waits for the end of the reply, so that refusals must be reported too."""
    return context["reportsToParent"]


def first_event_ms(context: StreamingContext) -> float:
    """Return how long the first event may take."""
    return context["settings"]["firstEventMs"]


def inactivity_ms(context: StreamingContext) -> float:
    """Return how long a reply may pause."""
    return context["settings"]["inactivityMs"]


def retry_delay_ms(context: StreamingContext) -> float:
    """Return the delay before the next automatic attempt."""
    return context["retryDelayMs"] or 0


def send_first_prompt(context: StreamingContext, event: StreamingFields, enqueue: _Enqueue) -> None:
    """Send the prompt of the input, if it has one."""
    input = event.get("input") or {}
    if "prompt" in input:
        send: SendPrompt = {"type": "SEND", "prompt": input["prompt"]}
        if "requestId" in input:
            send["requestId"] = input["requestId"]
        if "at" in input:
            send["at"] = input["at"]
        enqueue.raise_(send)


def report_started(context: StreamingContext, event: StreamingFields, enqueue: _Enqueue) -> None:
    """Report to the parent that the reply has begun."""
    if must_report(context):
        enqueue.send_parent({"type": "REPLY.STARTED", "requestId": context["requestId"]})


def report_completed(context: StreamingContext, event: StreamingFields, enqueue: _Enqueue) -> None:
    """Report the complete reply to the parent."""
    if must_report(context):
        problems: dict[str, Any] = {"problems": event["problems"]} if "problems" in event else {}
        enqueue.send_parent(
            {
                "type": "REPLY.COMPLETED",
                **problems,
                "message": reply.reply_message(context, event),
                "requestId": context["requestId"],
                "costUsd": context["costUsd"],
                "durationMs": context["durationMs"],
                "totalTokens": context["totalTokens"],
                "stop": context["stop"],
                "usage": context["usage"],
            }
        )


def report_failed(context: StreamingContext, event: StreamingFields, enqueue: _Enqueue) -> None:
    """Report to the parent that the reply failed and is not retried."""
    if must_report(context) and not failures.can_auto_retry(context):
        enqueue.send_parent({"type": "REPLY.FAILED", "error": context["error"], **_partial_reply(context)})


def report_cancelled(context: StreamingContext, event: StreamingFields, enqueue: _Enqueue) -> None:
    """Report to the parent that the reply was cancelled."""
    if must_report(context):
        enqueue.send_parent({"type": "REPLY.CANCELLED", **_partial_reply(context)})


def _partial_reply(context: StreamingContext) -> dict[str, Any]:
    return {
        "requestId": context["requestId"],
        "text": str(context["text"]),
        "usage": context["usage"],
        "costUsd": context["spentUsd"],
    }


# Every chunk runs these actions. To set one key the engine needs no intermediate dict, which the benchmarks show.
def _assign_text(
    key: Literal["text", "thinking"], append: Callable[[StreamingContext, Chunk], GrowingText]
) -> Action[StreamingContext, Any]:
    return assign({key: append})


def _assign_count(
    key: Literal["streamEvents"], count: Callable[[StreamingContext], int]
) -> Action[StreamingContext, Any]:
    return assign({key: count})


# Each function takes the events that the chart gives it, so the setup itself takes any.
streaming_machine: Machine[StreamingContext, StreamingEvent, State] = setup[StreamingContext, Any, State](
    actions={
        "sendFirstPrompt": enqueue_actions(send_first_prompt),
        "resetForNewMessage": assign(reply.reset_for_new_message),
        "resetForRetry": assign(reply.reset_for_retry),
        "fullReset": assign(reply.full_reset),
        "firstAttempt": assign(reply.first_attempt),
        "nextAttempt": assign(reply.next_attempt),
        "startReply": spawn_child("streamReply", id="stream", input=reply.reply_input),
        "stopReply": stop_child("stream"),
        "setRequest": assign(reply.set_request),
        "noteFirstEvent": assign(reply.note_first_event),
        "appendText": _assign_text("text", reply.append_text),
        "appendThinking": _assign_text("thinking", reply.append_thinking),
        "startTool": assign(reply.start_tool),
        "completeTool": assign(reply.complete_tool),
        "interruptTools": assign(reply.interrupt_tools),
        "countEvent": _assign_count("streamEvents", reply.count_event),
        "lookAtEvents": assign(reply.look_at_events),
        "countStale": assign(reply.count_stale),
        "setCompletion": assign(reply.set_completion),
        "keepReply": assign(reply.keep_reply),
        "keepPartial": assign(reply.keep_partial),
        "setCancelled": assign(reply.set_cancelled),
        "setError": assign(failures.set_error),
        "setActorError": assign(failures.set_actor_error),
        "setTruncated": assign(failures.set_truncated),
        "setTimeoutError": assign(failures.set_timeout_error),
        "setBudgetError": assign(failures.set_budget_error),
        "planRetry": assign(failures.plan_retry),
        "recordUsage": assign(budget.record_usage),
        "warnOfBudget": enqueue_actions(budget.warn_of_budget),
        "reportStarted": enqueue_actions(report_started),
        "reportCompleted": enqueue_actions(report_completed),
        "reportFailed": enqueue_actions(report_failed),
        "reportCancelled": enqueue_actions(report_cancelled),
    },
    guards={
        "isCurrentRequest": is_current_request,
        "isStale": is_stale,
        "isOwnRequest": is_own_request,
        "hasBudget": budget.has_budget,
        "breaksBudget": and_(["isCurrentRequest", budget.breaks_budget]),
        "isSilent": is_silent,
        "isCancelled": is_cancelled,
        "mustReport": must_report,
        "canAutoRetry": failures.can_auto_retry,
        "canRetry": failures.can_retry,
    },
    delays={
        "firstEvent": first_event_ms,
        "inactivity": inactivity_ms,
        "retryDelay": retry_delay_ms,
    },
    # Events may also come from outside, so the default call does nothing.
    actors={"streamReply": create_machine({"id": "silence"})},
    events=StreamingEvent,
    public=COMMANDS,
).create_machine({**load_chart(__name__), "context": reply.initial_context})
"""Machine of a conversation whose replies are streamed."""
_STREAM_EVENTS = EventTypes(StreamEvent)


def problem_with_stream_event(event: Mapping[str, Any]) -> str | None:
    """Return why an event is not one of a stream, as the call of a model sends them, or None."""
    if event.get("type") not in _STREAM_EVENTS.names:
        return f"{event.get('type')!r} is no event of a stream; known: {', '.join(_STREAM_EVENTS.names)}"
    problem = _STREAM_EVENTS.check(event)
    return None if problem is None else problem.text
