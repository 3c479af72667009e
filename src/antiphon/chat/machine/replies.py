"""The life of a reply: its request, and what is kept of it however it ends.

`context.reply` is the reply in flight. It is *wanted* when a message asks for it, *compressing* while the window
moves, *replying* while the child streams, and waits for *tools* when the child has called some.
"""

from collections.abc import Mapping
from typing import Any, cast

from antiphon.chart.text import GrowingText
from antiphon.chat.machine.context import (
    ChatRun,
    ErrorInfo,
    FlowContext,
    MessageDraft,
    Parts,
    PendingReply,
    Phase,
    RunOutcome,
)
from antiphon.chat.machine.crystal import build_crystal
from antiphon.chat.machine.events import (
    CrystalEnded,
    CrystalOutput,
    FailureEvent,
    SummaryEnded,
    SummaryOutput,
    ToolResults,
    ToolsEnded,
)
from antiphon.chat.machine.operations import request_reply
from antiphon.chat.machine.tree import append, head_of
from antiphon.chat.machine.windows import Shift, apply_shift, digest, find_shift, rearm, request_messages, view
from antiphon.threads.machine.content import PartJson, calls_of, text_of
from antiphon.threads.machine.permission_rules import lasting_overrides
from antiphon.threads.machine.streaming_types import ReplyCompleted, Spending, UnfinishedReply
from antiphon.tools.risk import risk_of_call

INTERRUPTED: ErrorInfo = {
    "code": "interrupted",
    "message": "the process was lost while tools were called",
    "recoverable": True,
}
TIMED_OUT: ErrorInfo = {
    "code": "turn_timeout",
    "message": "the turn took longer than it may",
    "recoverable": True,
}


def current_reply(context: FlowContext) -> PendingReply:
    """Return the reply in flight; there must be one."""
    reply = context["reply"]
    assert reply is not None
    return reply


def set_phase(context: FlowContext, phase: Phase) -> FlowContext:
    """Move the reply to another phase."""
    return {**context, "reply": {**current_reply(context), "phase": phase}}


def begin_summary(context: FlowContext) -> FlowContext:
    """Record that the window is being summarised."""
    return set_phase(context, "compressing")


def begin_tools(context: FlowContext) -> FlowContext:
    """Record that the tools of the reply were called."""
    return {**context, "reply": {**current_reply(context), "phase": "tools", "called": True}}


def note_timeout(context: FlowContext) -> FlowContext:
    """Record that the reply is cut because its turn took too long."""
    return {**context, "reply": {**current_reply(context), "error": TIMED_OUT}}


def summary_shift(context: FlowContext) -> Shift | None:
    """Return the move of the window that a model should summarise before the reply, or None."""
    config = context["config"]
    reply = context["reply"]
    if (
        reply is None
        or reply["phase"] != "wanted"
        or (config["strategy"], config["summaries"]) != ("summarise", "model")
    ):
        return None
    return find_shift(context, reply["branch"])


def summary_input(context: FlowContext) -> dict[str, Any]:
    """Return the input of the summariser: the old summary and the messages that are left out."""
    reply = current_reply(context)
    messages = context["messages"]
    shift = find_shift(context, reply["branch"])
    old = view(context, reply["branch"]).summary
    left_out = [messages[id] for id in shift.left_out] if shift else []
    return {
        "requestId": reply["requestId"],
        "model": context["config"]["model"],
        "summary": text_of(old["parts"]) if old else None,
        "messages": [{"role": message["role"], "parts": message["parts"]} for message in left_out],
    }


def apply_summary(context: FlowContext, event: SummaryEnded) -> FlowContext:
    """Move the window, with the summary of the model, or with a plain digest if it gave none."""
    branch = current_reply(context)["branch"]
    output = cast(SummaryOutput, _mapping_or_empty(event.get("output")))
    shift = find_shift(context, branch)
    if shift is not None:
        context = apply_shift(context, branch, shift, output.get("text") or digest(context, branch, shift))
    return set_phase(add_spending(context, output), "wanted")


def _mapping_or_empty(output: object) -> Mapping[str, Any]:
    return output if isinstance(output, Mapping) else {}


def begin_reply(context: FlowContext) -> FlowContext:
    """Prepare the request for the reply, and move its window if it has to."""
    branch = current_reply(context)["branch"]
    context = rearm(context, branch)
    shift = find_shift(context, branch)
    if shift is not None:
        needs_digest = context["config"]["strategy"] == "summarise"
        context = apply_shift(context, branch, shift, digest(context, branch, shift) if needs_digest else None)
    return set_phase(context, "replying")


def reply_input(context: FlowContext) -> dict[str, Any]:
    """Return the input of the child that streams the reply."""
    reply = current_reply(context)
    config = context["config"]
    return {
        **config["settings"],
        "requestId": reply["requestId"],
        "model": config["model"],
        "prompt": None,  # it is the last of the messages
        "messages": add_note(request_messages(context, reply["branch"]), reply["prefix"]),
        "reportsToParent": True,
    }


def add_note(messages: list[dict[str, Any]], note: str | None) -> list[dict[str, Any]]:
    """Put a note before the last question; as a message of its own if the last message is no question."""
    if not note:
        return messages
    part = {"type": "text", "text": note}
    if not messages or messages[-1]["role"] != "user":
        return [*messages, {"role": "user", "parts": [{**part, "text": note.strip()}]}]
    *earlier, question = messages
    return [*earlier, {**question, "parts": [part, *question["parts"]]}]


def keep_reply(context: FlowContext, event: ReplyCompleted) -> FlowContext:
    """Append the reply to the branch it was asked on; one that calls tools goes on with their results."""
    reply = current_reply(context)
    message = event.get("message") or {}
    parts = [_plain_part(part) for part in message.get("parts") or []]
    draft: MessageDraft = {
        "role": "assistant",
        "parts": parts,
        "source": message.get("source"),
        "at": event.get("at"),
        "usage": event.get("usage"),
        "costUsd": event.get("costUsd"),
    }
    context = add_spending(append(context, reply["branch"], draft), event)
    metrics = context["metrics"]
    context = {**context, "metrics": {**metrics, "replies": metrics["replies"] + 1}, "lastError": None}
    if calls_of(parts) and reply["cut"] is None:
        return set_phase(context, "tools")
    return end_reply(context, "completed")


def _plain_part(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part as JSON, with text that grew by chunks as a string."""
    return {key: str(value) if isinstance(value, GrowingText) else value for key, value in part.items()}


def keep_failure(context: FlowContext, event: FailureEvent) -> FlowContext:
    """Keep the text of a reply before it failed, and its error."""
    error = error_to_json(event.get("error"))
    context = add_spending(_keep_text(context, event), event)
    metrics = context["metrics"]
    context = {**context, "metrics": {**metrics, "failures": metrics["failures"] + 1}, "lastError": error}
    return end_reply(context, "failed", error)


def keep_cut(context: FlowContext, event: UnfinishedReply) -> FlowContext:
    """Keep the text of a reply before it was cut, unless it is to be discarded."""
    reply = current_reply(context)
    if reply["cut"] != "discard":
        context = _keep_text(context, event)
    context = add_spending(context, event)
    metrics = context["metrics"]
    context = {**context, "metrics": {**metrics, "cancelled": metrics["cancelled"] + 1}}
    if reply["error"] is not None:
        return end_reply({**context, "lastError": reply["error"]}, "failed", reply["error"])
    return end_reply(context, "cancelled")


def drop_reply(context: FlowContext) -> FlowContext:
    """End a reply that has no text to keep."""
    return keep_cut(context, {})


def _keep_text(context: FlowContext, event: UnfinishedReply) -> FlowContext:
    """Append the text of an unfinished reply as an interrupted message."""
    if not event.get("text"):
        return context
    draft: MessageDraft = {
        "role": "assistant",
        "parts": [{"type": "text", "text": str(event["text"])}],
        "interrupted": True,
        "at": event.get("at"),
    }
    return append(context, current_reply(context)["branch"], draft)


def end_reply(context: FlowContext, outcome: RunOutcome, error: ErrorInfo | None = None) -> FlowContext:
    """End the reply in flight, and record its outcome for the run."""
    run = context["run"]
    ended: ChatRun | None = None if run is None else {**run, "outcome": outcome, "error": error}
    return {**context, "reply": None, "run": ended}


def add_spending(context: FlowContext, event: Spending) -> FlowContext:
    """Add the usage, the cost and the duration of a request to the metrics and to the run."""
    usage = event.get("usage") or {}
    cost_usd = event.get("costUsd")
    duration_ms = event.get("durationMs") or 0
    metrics = context["metrics"]
    run = context["run"]
    counted: FlowContext = {
        **context,
        "metrics": {
            **metrics,
            "inputTokens": metrics["inputTokens"] + usage.get("input", 0),
            "outputTokens": metrics["outputTokens"] + usage.get("output", 0),
            "costUsd": metrics["costUsd"] + (cost_usd or 0.0),
            "unpriced": metrics["unpriced"] + (1 if usage and cost_usd is None else 0),
            "durationMs": metrics["durationMs"] + duration_ms,
            "slowestMs": max(metrics["slowestMs"], duration_ms),
        },
    }
    if run is not None:
        counted["run"] = {**run, "cost": run["cost"] + (cost_usd or 0.0), "duration": run["duration"] + duration_ms}
    return counted


def append_results(context: FlowContext, event: ToolResults) -> FlowContext:
    """Append the results of tools, and request the next reply."""
    reply = current_reply(context)
    parts = cast(Parts, event["results"])
    draft: MessageDraft = {"role": "tool", "parts": parts, "at": event.get("at"), "id": event.get("id")}
    return request_reply(append(context, reply["branch"], draft), reply["branch"])


def must_call_tools(context: FlowContext) -> bool:
    """Return whether the reply waits for tools that this machine calls."""
    reply = context["reply"]
    return (
        context["config"]["consent"] is not None
        and reply is not None
        and reply["phase"] == "tools"
        and not reply["called"]
    )


def tools_input(context: FlowContext) -> dict[str, Any]:
    """Return the input of the child that calls tools: the calls, their risks, and the permissions."""
    reply = current_reply(context)
    config = context["config"]
    head = head_of(context, reply["branch"])
    assert head is not None
    tools = {tool["name"]: tool for tool in config["settings"].get("options", {}).get("tools", ())}
    calls = [_with_risk(call, tools) for call in calls_of(context["messages"][head]["parts"])]
    consent = config["consent"] or {}
    # The latest decision counts, and a person decides after the settings.
    overrides = [*consent.get("overrides", []), *context["overrides"]]
    input = {"requestId": reply["requestId"], "calls": calls, "consent": {**consent, "overrides": overrides}}
    timeout_ms = consent.get("timeoutMs")
    return input if timeout_ms is None else {**input, "timeoutMs": timeout_ms}


def _with_risk(call: Mapping[str, Any], tools: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a call with its risk; an unknown tool has the highest."""
    return {**call, "risk": risk_of_call(tools.get(call["name"], {}).get("risk"), call["arguments"])}


def keep_answers(context: FlowContext, event: ToolsEnded) -> FlowContext:
    """Append the results of the tools, and request the next reply, unless the effects of the tools are unknown."""
    output = event["output"]
    permission = output["permission"]
    if permission and permission["decision"] == "allowed" and permission["scope"] == "thread":
        overrides = context["overrides"]
        new = [override for override in lasting_overrides(permission["calls"]) if override not in overrides]
        context = {**context, "overrides": [*overrides, *new]}
    context = append_results(context, {"type": "tool_results", "results": cast("list[PartJson]", output["results"])})
    if not output["lost"]:
        return context
    return end_reply({**context, "lastError": INTERRUPTED}, "failed", INTERRUPTED)


def error_to_json(error: object) -> ErrorInfo:
    """Return an error of any kind as data."""
    if isinstance(error, Mapping):
        return {
            "code": error.get("code", "reply_failed"),
            "message": str(error.get("message", "")),
            "recoverable": error.get("recoverable", True),
        }
    return {"code": "reply_failed", "message": str(error), "recoverable": True}


def crystal_input(context: FlowContext) -> dict[str, Any]:
    """Return the input of the crystallizer."""
    messages = request_messages(context, context["branch"])
    return {"model": context["config"]["model"], "messages": messages, "branch": context["branch"]}


def keep_crystal(context: FlowContext, event: CrystalEnded) -> FlowContext:
    """Keep the crystal of a model, with its gaps filled by rules."""
    output = cast(CrystalOutput, _mapping_or_empty(event.get("output")))
    crystal = build_crystal(context, output, context["crystallizing"], "model")
    done: FlowContext = {**context, "crystal": crystal, "crystallizing": None, "queue": [], "lastError": None}
    return add_spending(done, output)


def fail_crystal(context: FlowContext, event: CrystalEnded) -> FlowContext:
    """Record why there is no crystal; it can be tried again."""
    error: ErrorInfo = {**error_to_json(event.get("error")), "code": "crystallize_failed"}
    return {**context, "crystallizing": None, "lastError": error}
