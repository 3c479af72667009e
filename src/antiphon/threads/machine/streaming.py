"""The streaming machine: one conversation with a model, its replies arriving piece by piece.

1. Every stream event may name its request; one that names another than the current is counted and ignored.
2. The running call is the child `stream`. It is started with the transition into `sending`, survives the one into
   `streaming`, and is stopped on the way out of both. Unless another `streamReply` is provided, it does nothing.
3. Time, randomness and prices come with events: `at`, `jitter`, `costUsd`.
"""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.actions import Enqueue, assign, enqueue_actions, spawn_child, stop_child
from antiphon.chart.guards import and_
from antiphon.chart.machine import create_machine
from antiphon.chart.setup import setup
from antiphon.threads.machine import streaming_budget as budget
from antiphon.threads.machine import streaming_failures as failures
from antiphon.threads.machine import streaming_reply as reply
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.streaming_types import State, StreamingContext, StreamingEvent

Event = Mapping[str, Any]
Choice = Enqueue[StreamingContext, StreamingEvent]


def is_current_request(context: StreamingContext, event: Event) -> bool:
    """Whether an event belongs to the current request; one that names none does."""
    return event.get("requestId") is None or event["requestId"] == context["requestId"]


def is_stale(context: StreamingContext, event: Event) -> bool:
    """Whether an event belongs to another request."""
    return not is_current_request(context, event)


def is_own_request(context: StreamingContext, event: Event) -> bool:
    """Whether the id of a request is ours, or may become it."""
    return context["requestId"] is None or event["requestId"] == context["requestId"]


def is_silent(context: StreamingContext) -> bool:
    """Whether nothing has arrived since the last look."""
    return context["streamEvents"] == context["eventsAtLook"]


def is_cancelled(context: StreamingContext) -> bool:
    """Whether the latest reply was cancelled."""
    return context["cancelled"]


def must_report(context: StreamingContext) -> bool:
    """Whether a parent waits to be told how it ends, so that nothing may be refused in silence."""
    return context["reportsToParent"]


def send_first_prompt(context: StreamingContext, event: Event, enqueue: Choice) -> None:
    """Begin at once when the input has a prompt."""
    given = event.get("input") or {}
    if "prompt" in given:
        send: Any = {"type": "SEND", **{key: given[key] for key in ("prompt", "requestId", "at") if key in given}}
        enqueue.raise_(send)


def report_started(context: StreamingContext, event: Event, enqueue: Choice) -> None:
    """Tell the parent that the reply begins."""
    if must_report(context):
        enqueue.send_parent({"type": "REPLY.STARTED", "requestId": context["requestId"]})


def report_completed(context: StreamingContext, event: Event, enqueue: Choice) -> None:
    """Tell the parent that the reply is whole."""
    if must_report(context):
        told = ("requestId", "usage", "costUsd", "durationMs", "totalTokens", "stop")
        facts = {key: value for key, value in context.items() if key in told}
        enqueue.send_parent({"type": "REPLY.COMPLETED", "message": reply.reply_message(context, event), **facts})


def report_failed(context: StreamingContext, event: Event, enqueue: Choice) -> None:
    """Tell the parent that the reply failed for good."""
    if must_report(context) and not failures.can_auto_retry(context):
        facts = {"requestId": context["requestId"], "error": context["error"], "text": str(context["text"])}
        used = {"usage": context["usage"], "costUsd": context["spentUsd"]}
        enqueue.send_parent({"type": "REPLY.FAILED", **facts, **used})


def report_cancelled(context: StreamingContext, event: Event, enqueue: Choice) -> None:
    """Tell the parent that the reply was cancelled."""
    if must_report(context):
        facts = {"requestId": context["requestId"], "text": str(context["text"])}
        used = {"usage": context["usage"], "costUsd": context["spentUsd"]}
        enqueue.send_parent({"type": "REPLY.CANCELLED", **facts, **used})


streaming_machine = setup[StreamingContext, StreamingEvent, State](
    actions={
        "sendFirstPrompt": enqueue_actions(send_first_prompt),
        "resetForNewMessage": assign(reply.reset_for_new_message),
        "resetForRetry": assign(reply.reset_for_retry),
        "fullReset": assign(reply.full_reset),
        "firstAttempt": assign({"attempt": 0}),
        "nextAttempt": assign({"attempt": lambda context: context["attempt"] + 1}),
        "startReply": spawn_child("streamReply", id="stream", input=reply.reply_input),
        "stopReply": stop_child("stream"),
        "setRequest": assign(reply.set_request),
        "noteFirstEvent": assign({"firstTokenMs": reply.note_first_event}),
        "appendText": assign({"text": reply.append_text}),
        "appendThinking": assign({"thinking": reply.append_thinking}),
        "startTool": assign({"tools": reply.start_tool}),
        "completeTool": assign({"tools": reply.complete_tool}),
        "interruptTools": assign({"tools": reply.interrupt_tools}),
        "countEvent": assign({"streamEvents": lambda context: context["streamEvents"] + 1}),
        "lookAtEvents": assign({"eventsAtLook": lambda context: context["streamEvents"]}),
        "countStale": assign({"staleEvents": lambda context: context["staleEvents"] + 1}),
        "setCompletion": assign(reply.set_completion),
        "keepReply": assign({"messages": reply.keep_reply}),
        "keepPartial": assign({"messages": reply.keep_partial}),
        "setCancelled": assign({"cancelled": True, "error": None, "retryDelayMs": None}),
        "setError": assign({"error": failures.set_error}),
        "setActorError": assign({"error": failures.set_actor_error}),
        "setTruncated": assign({"error": failures.set_truncated}),
        "setTimeoutError": assign({"error": failures.set_timeout_error}),
        "setBudgetError": assign({"error": failures.set_budget_error}),
        "planRetry": assign({"retryDelayMs": failures.plan_retry}),
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
        "firstEvent": lambda context: context["settings"]["firstEventMs"],
        "inactivity": lambda context: context["settings"]["inactivityMs"],
        "retryDelay": lambda context: context["retryDelayMs"] or 0,
    },
    # Events may also come from outside, so a machine on its own has a call that says nothing.
    actors={"streamReply": create_machine({"id": "silence"})},
).create_machine({**load_chart(__name__), "context": reply.initial_context})
"""Machine of a conversation whose replies are streamed."""
