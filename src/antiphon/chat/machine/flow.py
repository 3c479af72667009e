"""The machine of a chat: the chart `flow.json` bound to the operations on a conversation."""

from collections.abc import Callable
from typing import Any, cast

from antiphon.chart.actions import (
    Action,
    Enqueue,
    assign,
    cancel,
    emit,
    enqueue_actions,
    send_parent,
    spawn_child,
    stop_child,
)
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup
from antiphon.chat.machine import operations, pauses, proposals, replies
from antiphon.chat.machine.context import FlowChanges, FlowContext, Phase
from antiphon.chat.machine.emitted import output
from antiphon.chat.machine.events import PUBLIC, FailureEvent, FlowEvent, FlowFields, FlowRequest
from antiphon.chat.machine.settings import initial_context
from antiphon.chat.machine.validation import is_busy, refusal
from antiphon.threads.machine.charts import load_chart

REPLY = "reply"
TOOLS = pauses.TOOLS
SUMMARISER = "summariser"
CRYSTALLIZER = "crystallizer"
TIMEOUT = "turnTimeout"
# Takes the place of the actors that a composition provides, and ignores every event.
inert: Machine[Any, Any] = create_machine({"id": "inert"})
_Enqueue = Enqueue[FlowContext, Any]


def is_accepted(context: FlowContext, event: FlowRequest) -> bool:
    """Return whether there is no reason to refuse an event."""
    return refusal(context, event) is None


def accepts_message(context: FlowContext, event: FlowRequest) -> bool:
    """Return whether a message can be appended now."""
    return not is_busy(context) and is_accepted(context, event)


def queues_message(context: FlowContext, event: FlowRequest) -> bool:
    """Return whether a message waits for the reply in flight."""
    return context["config"]["onBusy"] == "queue" and is_accepted(context, event)


def starts_by_itself(context: FlowContext, event: FlowRequest) -> bool:
    """Return whether the first message starts the conversation."""
    return context["config"]["autoStart"] and is_accepted(context, event)


def is_in_phase(phase: Phase) -> Callable[[FlowContext], bool]:
    """Return a guard for a phase of the reply in flight."""

    def guard(context: FlowContext) -> bool:
        return context["reply"] is not None and context["reply"]["phase"] == phase

    return guard


def is_current_reply(context: FlowContext, event: FlowFields) -> bool:
    """Return whether an event is about the reply in flight, and not about an earlier one."""
    reply = context["reply"]
    return reply is not None and reply["phase"] == "replying" and reply["requestId"] == event.get("requestId")


def costs_too_much(context: FlowContext, event: FailureEvent) -> bool:
    """Return whether the reply in flight failed because it reached the limit of cost."""
    return is_current_reply(context, cast(FlowFields, event)) and replies.costs_too_much(context, event)


def is_reply_in_flight(context: FlowContext) -> bool:
    """Return whether a reply is in flight."""
    return context["reply"] is not None


def cuts_on_stop(context: FlowContext) -> bool:
    """Return whether stopping the conversation cuts the reply in flight."""
    return context["reply"] is not None and context["config"]["onStop"] == "cut"


def must_send_next(context: FlowContext) -> bool:
    """Return whether the next message of the queue can be appended."""
    return context["reply"] is None and bool(context["queue"])


def must_summarise(context: FlowContext) -> bool:
    """Return whether a model has to summarise the window before the reply."""
    return replies.summary_shift(context) is not None


def must_reply(context: FlowContext) -> bool:
    """Return whether a reply can be requested now."""
    reply = context["reply"]
    return reply is not None and reply["phase"] == "wanted" and not reply["waiting"]


def must_report(context: FlowContext) -> bool:
    """Return whether a run has ended and no message waits."""
    return must_report_end(context) and not context["queue"]


def must_report_end(context: FlowContext) -> bool:
    """Return whether the parent waits for the end of a run that is over."""
    return context["run"] is not None and context["reply"] is None


def crystallizes_plainly(context: FlowContext, event: FlowRequest) -> bool:
    """Return whether the crystal is built by rules."""
    return (context["config"]["model"] is None or bool(event.get("plain"))) and is_accepted(context, event)


def is_crystallizing(context: FlowContext) -> bool:
    """Return whether a model builds the crystal."""
    return context["crystallizing"] is not None


def cut_reply(context: FlowContext, event: FlowFields, enqueue: _Enqueue) -> None:
    """Ask the child to end, so that its text is kept; drop a reply that has no text or was cut before."""
    reply = replies.current_reply(context)
    if reply["phase"] == "replying" and reply["cut"] is None:
        joins = event["type"] == "message" and context["config"]["onBusy"] == "merge"
        changes: FlowChanges = {"reply": {**reply, "cut": "discard" if joins else "keep"}}
        enqueue.assign(lambda: changes)
        enqueue.send_to(REPLY, {"type": "CANCEL", "requestId": reply["requestId"]})
        return
    enqueue("disarmTimeout")
    children = {"replying": REPLY, "compressing": SUMMARISER, "tools": TOOLS}
    if reply["phase"] in children:
        enqueue.stop_child(children[reply["phase"]])
    enqueue.assign(replies.drop_reply)


def arm_timeout(context: FlowContext, event: FlowFields, enqueue: _Enqueue) -> None:
    """Set the timer of a turn, if turns have a time limit."""
    limit_ms = context["config"]["turnTimeoutMs"]
    reply = context["reply"]
    if limit_ms is not None and reply is not None:
        enqueue.raise_({"type": "turn_timeout", "requestId": reply["requestId"]}, delay=limit_ms, id=TIMEOUT)


def report(context: FlowContext) -> dict[str, Any]:
    """Return the report of a run to the parent."""
    run = context["run"]
    assert run is not None
    spending = {"runId": run["runId"], "cost": run["cost"], "duration": run["duration"]}
    match run["outcome"]:
        case "completed":
            return {"type": "COMPLETE", **spending}
        case "failed":
            return {"type": "FAIL", "error": run["error"], **spending}
        case "cancelled":
            return {"type": "STOP", **spending}


def end_run(context: FlowContext) -> FlowContext:
    """Forget the run that was reported."""
    return {**context, "run": None}


def refusal_report(context: FlowContext, event: FlowRequest) -> dict[str, Any]:
    """Return the report to the parent about an event that was refused."""
    reason = refusal(context, event) or "the conversation is not open for messages"
    error = {"code": "message_refused", "message": reason, "recoverable": True}
    cost_usd = context["metrics"]["costUsd"]
    return {"type": "FAIL", "runId": event["runId"], "error": error, "cost": cost_usd, "duration": 0.0}


# Each function takes the events that the chart gives it, so the setup itself takes any.
ACTIONS: dict[str, Action[FlowContext, Any]] = {
    **pauses.ACTIONS,
    **proposals.ACTIONS,
    "emitOutput": emit(output),
    "configure": assign(operations.configure),
    "appendMessage": assign(operations.append_message),
    "queueMessage": assign(operations.queue_message),
    "sendNext": assign(operations.send_next),
    "injectContext": assign(operations.inject_context),
    "markCheckpoint": assign(operations.mark_checkpoint),
    "rewind": assign(operations.rewind),
    "planFork": assign(operations.plan_fork),
    "confirmFork": assign(operations.confirm_fork),
    "cancelFork": assign(operations.cancel_fork),
    "planMerge": assign(operations.plan_merge),
    "resolveConflict": assign(operations.resolve_conflict),
    "confirmMerge": assign(operations.confirm_merge),
    "cancelMerge": assign(operations.cancel_merge),
    "switchBranch": assign(operations.switch_branch),
    "closeBranch": assign(operations.close_branch),
    "pinMessage": assign(operations.pin_message),
    "flush": assign(operations.flush),
    "crystallizePlainly": assign(operations.crystallize_plainly),
    "reset": assign(operations.reset),
    "beginSummary": assign(replies.begin_summary),
    "spawnSummariser": spawn_child(SUMMARISER, id=SUMMARISER, input=replies.summary_input),
    "applySummary": assign(replies.apply_summary),
    "beginReply": assign(replies.begin_reply),
    "spawnReply": spawn_child(REPLY, id=REPLY, input=replies.reply_input),
    "stopReply": stop_child(REPLY),
    "armTimeout": enqueue_actions(arm_timeout),
    "disarmTimeout": cancel(TIMEOUT),
    "noteTimeout": assign(replies.note_timeout),
    "cutReply": enqueue_actions(cut_reply),
    "keepReply": assign(replies.with_time(replies.keep_reply)),
    "keepFailure": assign(replies.with_time(replies.keep_failure)),
    "keepCut": assign(replies.with_time(replies.keep_cut)),
    "keepRest": assign(replies.with_time(replies.keep_rest)),
    "resumeReply": assign(operations.resume_reply),
    "retryReply": assign(operations.retry_reply),
    "reportToParent": send_parent(report),
    "endRun": assign(end_run),
    "refuseAloud": send_parent(refusal_report),
    "beginCrystal": assign(operations.begin_crystal),
    "spawnCrystallizer": spawn_child(CRYSTALLIZER, id=CRYSTALLIZER, input=replies.crystal_input),
    "stopCrystallizer": stop_child(CRYSTALLIZER),
    "keepCrystal": assign(replies.keep_crystal),
    "failCrystal": assign(replies.fail_crystal),
    "cancelCrystal": assign(operations.cancel_crystal),
}
GUARDS: dict[str, Callable[..., bool]] = {
    **pauses.GUARDS,
    **proposals.GUARDS,
    "isAccepted": is_accepted,
    "acceptsMessage": accepts_message,
    "queuesMessage": queues_message,
    "interruptsReply": is_accepted,
    "startsByItself": starts_by_itself,
    "mustSendNext": must_send_next,
    "mustSummarise": must_summarise,
    "mustReply": must_reply,
    "mustReport": must_report,
    "mustReportEnd": must_report_end,
    "isReplyInFlight": is_reply_in_flight,
    "isReplying": is_in_phase("replying"),
    "isCompressing": is_in_phase("compressing"),
    "isAwaitingTool": is_in_phase("tools"),
    "costsTooMuch": costs_too_much,
    "isCurrentReply": is_current_reply,
    "cutsOnStop": cuts_on_stop,
    "crystallizesPlainly": crystallizes_plainly,
    "isCrystallizing": is_crystallizing,
}

flow_machine: Machine[FlowContext, FlowEvent] = setup[FlowContext, Any](
    actions=ACTIONS,
    guards=GUARDS,
    actors=dict.fromkeys((REPLY, TOOLS, SUMMARISER, CRYSTALLIZER, proposals.RECONCILER), inert),
    events=FlowEvent,
    public=PUBLIC,
).create_machine({**load_chart(__name__), "context": initial_context})
"""Machine of a chat: messages, branches, replies, tools."""
