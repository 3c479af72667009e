"""What the streaming machine knows of a request and its reply: how it begins, what arrives, what is kept."""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.text import Text
from antiphon.threads.machine.streaming_types import StreamingContext, StreamingSettings, ToolActivity

Event = Mapping[str, Any]

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


def initial_context(input: Mapping[str, Any] | None = None) -> StreamingContext:
    """The context of a new conversation; the input may give history, session, who to report to, and settings."""
    given = input or {}
    settings: Any = {key: given.get(key, value) for key, value in DEFAULT_SETTINGS.items()}
    context: Any = {
        "requestId": None,
        "sessionId": given.get("sessionId"),
        **_no_reply(),
        "lastPrompt": None,
        "messages": list(given.get("messages") or []),
        "cancelled": False,
        "attempt": 0,
        "streamEvents": 0,
        "eventsAtLook": 0,
        "staleEvents": 0,
        "settledUsd": 0,
        "spentUsd": 0,
        "budgetWarned": False,
        "reportsToParent": given.get("reportsToParent", False),
        "settings": settings,
    }
    started: StreamingContext = context
    return started


def _no_reply() -> dict[str, Any]:
    """What a context says of a reply of which nothing has arrived."""
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


def reset_for_new_message(context: StreamingContext, event: Event) -> dict[str, Any]:
    """Forget the last reply, note the prompt; an absent session stays, a given one, even null, is taken."""
    prompt, request = event.get("prompt"), event.get("requestId")
    asked = [] if prompt is None else [_message("user", prompt, request, event.get("at"))]
    return {
        **_no_reply(),
        "requestId": request,
        "sessionId": event.get("sessionId", context["sessionId"]),
        "lastPrompt": context["lastPrompt"] if prompt is None else prompt,
        "messages": [*context["messages"], *asked],
        "cancelled": False,
        "attempt": 0,
        "sentAt": event.get("at"),
        "settledUsd": context["spentUsd"],
    }


def reset_for_retry(context: StreamingContext, event: Event) -> dict[str, Any]:
    """Forget what arrived of the last reply."""
    request = event.get("requestId") or context["requestId"]
    return {**_no_reply(), "requestId": request, "settledUsd": context["spentUsd"]}


def full_reset(context: StreamingContext) -> dict[str, Any]:
    """The context of a new conversation with the same settings."""
    return {**initial_context(), "settings": context["settings"], "reportsToParent": context["reportsToParent"]}


def reply_input(context: StreamingContext) -> dict[str, Any]:
    """What `streamReply` is given."""
    settings = context["settings"]
    return {
        "requestId": context["requestId"],
        "sessionId": context["sessionId"],
        "messages": context["messages"],
        "model": settings["model"],
        "options": settings["options"],
        "attempt": context["attempt"],
    }


def set_request(context: StreamingContext, event: Event) -> dict[str, Any]:
    """Note the request's id, and when it started."""
    return {"requestId": event["requestId"], "sentAt": event.get("at", context["sentAt"])}


def note_first_event(context: StreamingContext, event: Event) -> float | None:
    """How long the first event took, if the times are known."""
    sent, came = context["sentAt"], event.get("at")
    return None if sent is None or came is None else came - sent


def append_text(context: StreamingContext, event: Event) -> Text:
    """More words."""
    content: str = event["content"]
    return Text(context["text"]) + content


def append_thinking(context: StreamingContext, event: Event) -> Text:
    """More of a thought."""
    content: str = event["content"]
    return Text(context["thinking"]) + content


def start_tool(context: StreamingContext, event: Event) -> dict[str, ToolActivity]:
    """A tool runs."""
    tool: ToolActivity = {"name": event["toolName"], "status": "running"}
    if "input" in event:
        tool["input"] = event["input"]
    return {**context["tools"], event["toolId"]: tool}


def complete_tool(context: StreamingContext, event: Event) -> dict[str, ToolActivity]:
    """A tool is done; of one that never started nothing is noted."""
    if event["toolId"] not in context["tools"]:
        return context["tools"]
    tool = context["tools"][event["toolId"]].copy()
    tool["status"] = "error" if event["isError"] else "complete"
    tool["durationMs"] = event["durationMs"]
    if "result" in event:
        tool["result"] = event["result"]
    return {**context["tools"], event["toolId"]: tool}


def interrupt_tools(context: StreamingContext) -> dict[str, ToolActivity]:
    """Tools that still run will never be heard of again."""
    return {
        id: {**tool, "status": "error", "interrupted": True} if tool["status"] == "running" else tool
        for id, tool in context["tools"].items()
    }


def set_completion(context: StreamingContext, event: Event) -> dict[str, Any]:
    """What the whole reply took."""
    return {key: event.get(key) for key in ("costUsd", "durationMs", "totalTokens", "stop")}


def reply_message(context: StreamingContext, event: Event) -> dict[str, Any]:
    """The reply as a message: as its provider gives it, or made of its words."""
    spoken = _message("assistant", str(context["text"]), context["requestId"], event.get("at"))
    return {**spoken, **event.get("message", {})}


def keep_reply(context: StreamingContext, event: Event) -> list[dict[str, Any]]:
    """The history with the reply, unless that is empty."""
    message = reply_message(context, event)
    return [*context["messages"], message] if message["parts"] else context["messages"]


def keep_partial(context: StreamingContext) -> list[dict[str, Any]]:
    """The history with what arrived of a reply that did not end well."""
    if not context["text"]:
        return context["messages"]
    spoken = _message("assistant", str(context["text"]), context["requestId"], None)
    return [*context["messages"], {**spoken, "partial": True}]


def _message(role: str, text: str, request: str | None, at: float | None) -> dict[str, Any]:
    named = {key: value for key, value in {"requestId": request, "at": at}.items() if value is not None}
    return {"role": role, "parts": [{"type": "text", "text": text}] if text else [], **named}
