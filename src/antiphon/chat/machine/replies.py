"""The life of a reply: its request, and what is kept of it however it ends.

`context.reply` is the reply in flight. It is *wanted* when a message asks for it, *compressing* while the window
moves, *replying* while the child streams, and waits for *tools* when the child has called some.
"""

from collections.abc import Mapping
from typing import Any, cast

from antiphon.chart.text import GrowingText
from antiphon.chat.machine import limits
from antiphon.chat.machine.context import (
    ChatRun,
    ErrorInfo,
    FlowContext,
    MessageDraft,
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
    Timed,
)
from antiphon.chat.machine.operations import request_reply
from antiphon.chat.machine.tree import append, reply_options
from antiphon.chat.machine.windows import Shift, apply_shift, digest, find_shift, rearm, request_messages, view
from antiphon.errors import Code
from antiphon.threads.machine.content import calls_of, text_of
from antiphon.threads.machine.streaming_types import ReplyCompleted, Spending, UnfinishedReply

CONTINUE = "[The reply was cut at a limit, which was raised. Continue where it ends.]"
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


def note_timeout(context: FlowContext) -> FlowContext:
    """Record that the reply is cut because its turn took too long."""
    return {**context, "reply": {**current_reply(context), "error": TIMED_OUT}}


def summary_shift(context: FlowContext) -> Shift | None:
    """Return the move of the window that a model should summarise before the reply, or None."""
    config = context["config"]
    reply = context["reply"]
    if (
        reply is None
        or reply["waiting"]
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
    remaining_usd = limits.remaining_cost(context)
    budgets = [usd for usd in (remaining_usd, config["settings"].get("budgetUsd")) if usd is not None]
    options = reply_options(context, reply["branch"])
    return {
        **config["settings"],
        **({"options": {**config["settings"].get("options", {}), **options}} if options else {}),
        **({"budgetUsd": min(budgets)} if budgets else {}),
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


def _time(event: Mapping[str, Any]) -> int | None:
    """Return the time of the message that an event adds; spending is counted by the time of the event alone."""
    at: int | None = event.get("messageAt", event.get("at"))
    return at


def keep_reply(context: FlowContext, event: ReplyCompleted) -> FlowContext:
    """Append the reply to the branch it was asked on; one that calls tools goes on with their results."""
    reply = current_reply(context)
    message = event.get("message") or {}
    parts = [_plain_part(part) for part in message.get("parts") or []]
    draft: MessageDraft = {
        "role": "assistant",
        "parts": parts,
        "source": message.get("source"),
        "at": _time(event),
        "usage": event.get("usage"),
        "costUsd": event.get("costUsd"),
    }
    context = add_spending(append(context, reply["branch"], draft), event)
    metrics = context["metrics"]
    context = {**context, "metrics": {**metrics, "replies": metrics["replies"] + 1}, "lastError": None}
    # A reply that was complete before a limit could cut it is kept as it is.
    is_cut_at_limit = reply.get("limit") is not None
    if is_cut_at_limit:
        context = _without_limit({**context, "reply": {**reply, "cut": None}})
    if calls_of(parts) and (reply["cut"] is None or is_cut_at_limit):
        return set_phase(context, "tools")
    return end_reply(context, "completed")


def _without_limit(context: FlowContext) -> FlowContext:
    """Return the context with a reply that no limit cuts."""
    reply = current_reply(context)
    return context if reply.get("limit") is None else {**context, "reply": {**reply, "limit": None}}


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


def costs_too_much(context: FlowContext, event: FailureEvent) -> bool:
    """Return whether a reply failed because it reached the limit of cost."""
    is_over_budget = error_to_json(event.get("error"))["code"] == Code.QUOTA
    return is_over_budget and limits.is_cost_reached(add_spending(context, event))


def keep_rest(context: FlowContext, event: UnfinishedReply) -> FlowContext:
    """Keep the text of a reply before it was cut at a limit, and request the rest."""
    context = add_spending(_keep_text(context, event), event)
    return request_reply(context, current_reply(context)["branch"], CONTINUE if event.get("text") else None)


def keep_cut(context: FlowContext, event: UnfinishedReply) -> FlowContext:
    """Keep the text of a reply before it was cut, unless it is to be discarded; at a limit it waits for a person."""
    reply = current_reply(context)
    if reply.get("limit") is not None:
        return keep_rest(context, event)
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
    return keep_cut(_without_limit(context), {})


def _keep_text(context: FlowContext, event: UnfinishedReply) -> FlowContext:
    """Append the text of an unfinished reply as an interrupted message."""
    if not event.get("text"):
        return context
    draft: MessageDraft = {
        "role": "assistant",
        "parts": [{"type": "text", "text": str(event["text"])}],
        "interrupted": True,
        "at": _time(event),
    }
    return append(context, current_reply(context)["branch"], draft)


def end_reply(context: FlowContext, outcome: RunOutcome, error: ErrorInfo | None = None) -> FlowContext:
    """End the reply in flight, and record its outcome for the run."""
    run = context["run"]
    ended: ChatRun | None = None if run is None else {**run, "outcome": outcome, "error": error}
    return {**context, "reply": None, "run": ended}


def add_spending(context: FlowContext, event: Spending) -> FlowContext:
    """Add the usage, the cost and the duration of a request to the metrics, to the run and to the budget."""
    usage = event.get("usage") or {}
    cost_usd = event.get("costUsd")
    duration_ms = event.get("durationMs") or 0
    context = limits.add_spent(context, "costUsd", cost_usd or 0.0)
    context = limits.count_time(context, cast(Timed, event).get("at"), duration_ms)
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


def error_to_json(error: object) -> ErrorInfo:
    """Return an error of any kind as data."""
    if isinstance(error, Mapping):
        info: ErrorInfo = {
            "code": error.get("code", "reply_failed"),
            "message": str(error.get("message", "")),
            "recoverable": error.get("recoverable", True),
        }
        return info if error.get("retryAfterMs") is None else {**info, "retryAfterMs": error["retryAfterMs"]}
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
