"""Requests and replies of the streaming machine: start, arriving events, and history."""

from typing import Any, cast

from antiphon.chart.text import GrowingText
from antiphon.threads.machine.streaming_types import (
    Chunk,
    Complete,
    MessageReset,
    ReplyState,
    RequestStarted,
    RetryReset,
    SendPrompt,
    StreamingChanges,
    StreamingContext,
    StreamingFields,
    StreamingInput,
    StreamingSettings,
    ToolActivity,
    ToolCompleted,
    ToolStarted,
)

DEFAULT_SETTINGS: StreamingSettings = {
    "model": None,
    "options": {},
    "budgetUsd": None,
    "firstEventMs": 300_000,
    "inactivityMs": 120_000,
    "maxAttempts": 3,
    "backoffMs": 1_000,
    "longestRetryMs": 60_000,
    "retryAfterDelta": False,
}


def initial_context(input: StreamingInput | None = None) -> StreamingContext:
    """Return the context of a new conversation; the input may hold any of the settings as well."""
    options: StreamingInput = input or {}
    settings = {key: options.get(key, default) for key, default in DEFAULT_SETTINGS.items()}
    return {
        "requestId": None,
        "sessionId": options.get("sessionId"),
        **_empty_reply(),
        "lastPrompt": None,
        "messages": list(options.get("messages") or []),
        "cancelled": False,
        "attempt": 0,
        "streamEvents": 0,
        "eventsAtLook": 0,
        "staleEvents": 0,
        "settledUsd": 0,
        "spentUsd": 0,
        "budgetWarned": False,
        "reportsToParent": options.get("reportsToParent", False),
        "settings": cast(StreamingSettings, settings),
    }


def _empty_reply() -> ReplyState:
    """Return the state of a reply before anything has arrived."""
    return {
        "text": "",
        "thinking": "",
        "tools": {},
        "error": None,
        "costUsd": None,
        "durationMs": None,
        "totalTokens": None,
        "stop": None,
        "usage": None,
        "retryDelayMs": None,
        "sentAt": None,
        "firstTokenMs": None,
    }


def reset_for_new_message(context: StreamingContext, event: SendPrompt) -> MessageReset:
    """Clear the last reply and record the prompt; a session in the event, even null, replaces the current one."""
    prompt = event.get("prompt")
    request_id = event.get("requestId")
    question = [] if prompt is None else [_message("user", prompt, request_id, event.get("at"))]
    return {
        **_empty_reply(),
        "requestId": request_id,
        "sessionId": event.get("sessionId", context["sessionId"]),
        "lastPrompt": context["lastPrompt"] if prompt is None else prompt,
        "messages": [*context["messages"], *question],
        "cancelled": False,
        "attempt": 0,
        "sentAt": event.get("at"),
        "settledUsd": context["spentUsd"],
    }


def reset_for_retry(context: StreamingContext, event: StreamingFields) -> RetryReset:
    """Clear the last reply."""
    request_id = event.get("requestId") or context["requestId"]
    return {**_empty_reply(), "requestId": request_id, "settledUsd": context["spentUsd"]}


def full_reset(context: StreamingContext) -> StreamingContext:
    """Return the context of a new conversation with the same settings."""
    return {**initial_context(), "settings": context["settings"], "reportsToParent": context["reportsToParent"]}


def first_attempt() -> StreamingChanges:
    """Count attempts from the start."""
    return {"attempt": 0}


def next_attempt(context: StreamingContext) -> StreamingChanges:
    """Count another attempt."""
    return {"attempt": context["attempt"] + 1}


def reply_input(context: StreamingContext) -> dict[str, Any]:
    """Return the input of `streamReply`."""
    settings = context["settings"]
    # A cost that is limited must be known.
    limited = {} if settings["budgetUsd"] is None else {"limited": True}
    return {
        **limited,
        "requestId": context["requestId"],
        "sessionId": context["sessionId"],
        "messages": context["messages"],
        "model": settings["model"],
        "options": settings["options"],
        "attempt": context["attempt"],
    }


def set_request(context: StreamingContext, event: RequestStarted) -> StreamingChanges:
    """Record the id of the request, and when it started."""
    return {"requestId": event["requestId"], "sentAt": event.get("at", context["sentAt"])}


def note_first_event(context: StreamingContext, event: StreamingFields) -> StreamingChanges:
    """Record how long the first event took, if both times are known."""
    sent_at = context["sentAt"]
    arrived_at = event.get("at")
    return {"firstTokenMs": None if sent_at is None or arrived_at is None else arrived_at - sent_at}


def append_text(context: StreamingContext, event: Chunk) -> GrowingText:
    """Return the text of the reply with more text appended."""
    return GrowingText(context["text"]) + event["content"]


def append_thinking(context: StreamingContext, event: Chunk) -> GrowingText:
    """Return the thinking of the reply with more thinking appended."""
    return GrowingText(context["thinking"]) + event["content"]


def count_event(context: StreamingContext) -> int:
    """Return the number of events of the stream, with one more."""
    return context["streamEvents"] + 1


def look_at_events(context: StreamingContext) -> StreamingChanges:
    """Remember the number of events, to notice when no more arrive."""
    return {"eventsAtLook": context["streamEvents"]}


def count_stale(context: StreamingContext) -> StreamingChanges:
    """Count an event of an earlier request."""
    return {"staleEvents": context["staleEvents"] + 1}


def start_tool(context: StreamingContext, event: ToolStarted) -> StreamingChanges:
    """Add a running tool."""
    tool: ToolActivity = {"name": event["toolName"], "status": "running"}
    if "input" in event:
        tool["input"] = event["input"]
    return {"tools": {**context["tools"], event["toolId"]: tool}}


def complete_tool(context: StreamingContext, event: ToolCompleted) -> StreamingChanges:
    """Record the end of a tool; ignore one that never started."""
    if event["toolId"] not in context["tools"]:
        return {}
    tool = context["tools"][event["toolId"]].copy()
    tool["status"] = "error" if event["isError"] else "complete"
    tool["durationMs"] = event["durationMs"]
    if "result" in event:
        tool["result"] = event["result"]
    return {"tools": {**context["tools"], event["toolId"]: tool}}


def interrupt_tools(context: StreamingContext) -> StreamingChanges:
    """Mark running tools as interrupted: no more events of them will arrive."""
    tools: dict[str, ToolActivity] = {
        id: {**tool, "status": "error", "interrupted": True} if tool["status"] == "running" else tool
        for id, tool in context["tools"].items()
    }
    return {"tools": tools}


def set_completion(context: StreamingContext, event: Complete) -> StreamingChanges:
    """Record cost, duration, tokens and stop reason of the reply."""
    return {
        "costUsd": event.get("costUsd"),
        "durationMs": event.get("durationMs"),
        "totalTokens": event.get("totalTokens"),
        "stop": event.get("stop"),
    }


def set_cancelled() -> StreamingChanges:
    """Record that the reply was cancelled."""
    return {"cancelled": True, "error": None, "retryDelayMs": None}


def reply_message(context: StreamingContext, event: StreamingFields) -> dict[str, Any]:
    """Return the reply as a message: the provider's own, completed by the text that arrived."""
    message = _message("assistant", str(context["text"]), context["requestId"], event.get("at"))
    return {**message, **event.get("message", {})}


def keep_reply(context: StreamingContext, event: StreamingFields) -> StreamingChanges:
    """Append the reply to the history, unless it is empty."""
    message = reply_message(context, event)
    return {"messages": [*context["messages"], message]} if message["parts"] else {}


def keep_partial(context: StreamingContext) -> StreamingChanges:
    """Append the text of an unfinished reply to the history."""
    if not context["text"]:
        return {}
    message = _message("assistant", str(context["text"]), context["requestId"], None)
    return {"messages": [*context["messages"], {**message, "partial": True}]}


def _message(role: str, text: str, request_id: str | None, at: float | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "parts": [{"type": "text", "text": text}] if text else []}
    if request_id is not None:
        message["requestId"] = request_id
    if at is not None:
        message["at"] = at
    return message
