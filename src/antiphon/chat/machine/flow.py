"""The machine of a chat: the chart `flow.json` bound to the operations on a conversation."""

from collections.abc import Callable
from typing import Any

from antiphon.chart.actions import Action, assign, emit, send_parent
from antiphon.chart.machine import Machine
from antiphon.chart.setup import setup
from antiphon.chat.machine import children, operations
from antiphon.chat.machine.context import FlowContext
from antiphon.chat.machine.emitted import output
from antiphon.chat.machine.events import PUBLIC, FlowEvent, FlowRequest
from antiphon.chat.machine.settings import initial_context
from antiphon.chat.machine.validation import is_busy, refusal
from antiphon.threads.machine.charts import load_chart


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


def must_send_next(context: FlowContext) -> bool:
    """Return whether the next message of the queue can be appended."""
    return context["reply"] is None and bool(context["queue"])


def must_report(context: FlowContext) -> bool:
    """Return whether a run has ended and no message waits."""
    return must_report_end(context) and not context["queue"]


def must_report_end(context: FlowContext) -> bool:
    """Return whether the parent waits for the end of a run that is over."""
    return context["run"] is not None and context["reply"] is None


def crystallizes_plainly(context: FlowContext, event: FlowRequest) -> bool:
    """Return whether the crystal is built by rules."""
    return (context["config"]["model"] is None or bool(event.get("plain"))) and is_accepted(context, event)


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
    **children.ACTIONS,
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
    "retryReply": assign(operations.retry_reply),
    "reportToParent": send_parent(report),
    "endRun": assign(end_run),
    "refuseAloud": send_parent(refusal_report),
    "beginCrystal": assign(operations.begin_crystal),
    "cancelCrystal": assign(operations.cancel_crystal),
}
GUARDS: dict[str, Callable[..., bool]] = {
    **children.GUARDS,
    "isAccepted": is_accepted,
    "acceptsMessage": accepts_message,
    "queuesMessage": queues_message,
    "interruptsReply": is_accepted,
    "startsByItself": starts_by_itself,
    "mustSendNext": must_send_next,
    "mustReport": must_report,
    "mustReportEnd": must_report_end,
    "crystallizesPlainly": crystallizes_plainly,
}

flow_machine: Machine[FlowContext, FlowEvent] = setup[FlowContext, Any](
    actions=ACTIONS,
    guards=GUARDS,
    actors=children.ACTORS,
    events=FlowEvent,
    public=PUBLIC,
).create_machine({**load_chart(__name__), "context": initial_context})
"""Machine of a chat: messages, branches, replies, tools."""
