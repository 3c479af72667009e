"""Pauses of a reply, in which a person or the client is asked: for permission, for more at a limit, for results."""

from collections.abc import Callable
from typing import Any, cast

from antiphon.chart.actions import Action, Enqueue, assign, enqueue_actions, send_parent, spawn_child, stop_child
from antiphon.chat.machine import limits, permissions, tool_calls
from antiphon.chat.machine.context import ErrorInfo, FlowContext, PendingReply
from antiphon.chat.machine.events import AnswerAtLimit, FlowFields, FlowRequest
from antiphon.chat.machine.operations import raise_limit
from antiphon.chat.machine.permissions import TOOLS
from antiphon.chat.machine.replies import current_reply
from antiphon.threads.machine.thread_events import RequestJson
from antiphon.threads.machine.tools_types import Wait

_Enqueue = Enqueue[FlowContext, Any]


def must_refuse_aloud(context: FlowContext, event: FlowRequest) -> bool:
    """Return whether a parent must be told that its event is refused."""
    return context["reportsToParent"] and event.get("runId") is not None


def is_waiting(context: FlowContext) -> bool:
    """Return whether the reply waits for a person."""
    return context["reply"] is not None and context["reply"]["waiting"]


def waits_at_limit(context: FlowContext) -> bool:
    """Return whether the reply waits for a person because of a limit."""
    reply = context["reply"]
    return reply is not None and reply["waiting"] and reply.get("limit") is not None


def must_ask_again(context: FlowContext, event: FlowRequest) -> bool:
    """Return whether a parent must be told that the question is still open."""
    return is_waiting(context) and must_refuse_aloud(context, event)


def run_of(context: FlowContext) -> str | None:
    """Return the id of the run that the parent waits for."""
    return context["run"]["runId"] if context["run"] else None


def waiting_report(context: FlowContext, reason: str | None, run_id: str | None) -> dict[str, Any]:
    """Return the report to the parent that a person is asked."""
    request = current_reply(context).get("request")
    requests = {"requests": [request]} if request else {}
    return {"type": "WAIT", "reason": reason, "runId": run_id, "cost": context["metrics"]["costUsd"], **requests}


def report_waiting(context: FlowContext, event: FlowFields, enqueue: _Enqueue) -> None:
    """Report to the parent, if there is one, that a person is asked."""
    if context["reportsToParent"]:
        enqueue.send_parent(waiting_report(context, event.get("reason"), run_of(context)))


def report_limit(context: FlowContext, event: FlowFields, enqueue: _Enqueue) -> None:
    """Report to the parent, if there is one, that a person is asked at a limit."""
    if context["reportsToParent"]:
        enqueue.send_parent(waiting_report(context, "limit", run_of(context)))


def report_awaiting(context: FlowContext, event: FlowFields, enqueue: _Enqueue) -> None:
    """Report to the parent, if there is one, that the results of the client are awaited."""
    if context["reportsToParent"]:
        enqueue.send_parent(waiting_report(context, "tools", run_of(context)))


def report_again(context: FlowContext, event: FlowFields) -> dict[str, Any]:
    """Return the report to a parent that went on while the question is still open."""
    reason = "limit" if waits_at_limit(context) else "permission"
    request = current_reply(context).get("request")
    return waiting_report(context, request["reason"] if request else reason, event["runId"])


def go_on_if_waited(context: FlowContext, event: FlowFields, enqueue: _Enqueue) -> None:
    """Tell the parent that the request is closed, unless the event came from it and names a run."""
    if context["reportsToParent"] and is_waiting(context) and event.get("runId") is None:
        enqueue.send_parent({"type": "GO_ON", "runId": run_of(context)})


def keep_request(context: FlowContext, event: Wait) -> FlowContext:
    """Record that the tools wait for a person, and their request; other tools may wait without one."""
    reply: PendingReply = {**current_reply(context), "waiting": True, "request": None}
    if "address" in event:
        request = {key: value for key, value in event.items() if key != "type"}
        reply["request"] = cast(RequestJson, {**request, "address": f"{TOOLS}/{event['address']}"})
    return {**context, "reply": reply}


def forget_request(context: FlowContext) -> FlowContext:
    """Record that the tools wait for nobody any more; the time in which a person was asked does not count."""
    reply: PendingReply = {**current_reply(context), "waiting": False, "request": None}
    return limits.continue_at({**context, "reply": reply}, None)


def answer_limit(context: FlowContext, event: AnswerAtLimit) -> FlowContext:
    """Raise the limit that the reply waits at, or end the turn there."""
    name = current_reply(context).get("limit")
    assert name is not None
    context = limits.continue_at(context, event.get("at"))
    if event["decision"] == "allow":
        return limits.leave_limit(limits.raise_limit(context, name, event.get("limit")))
    error: ErrorInfo = {
        "code": "limit_reached",
        "message": limits.describe_limit(context, name),
        "recoverable": True,
    }
    return tool_calls.refuse_calls(context, error)


def tell_problems(context: FlowContext, event: FlowFields, enqueue: _Enqueue) -> None:
    """Emit the problem of each call that cannot be made."""
    for call in tool_calls.tools_input(context)["calls"]:
        if "problem" in call:
            facts = {"id": call["id"], "name": call["name"], "message": call["problem"]}
            enqueue.emit({"type": "call_refused", **facts})


# Each function takes the events that the chart gives it.
ACTIONS: dict[str, Action[FlowContext, Any]] = {
    "beginTools": assign(tool_calls.begin_tools),
    "spawnTools": spawn_child(TOOLS, id=TOOLS, input=tool_calls.tools_input),
    "tellProblems": enqueue_actions(tell_problems),
    "stopTools": stop_child(TOOLS),
    "appendResults": assign(tool_calls.append_results),
    "keepAnswers": assign(tool_calls.keep_answers),
    "revokePermission": assign(permissions.revoke_permission),
    "passRevocation": enqueue_actions(permissions.pass_revocation),
    "loseRequest": assign(tool_calls.lose_request),
    "resumeTurn": assign(tool_calls.resume_turn),
    "refuseTools": assign(tool_calls.refuse_tools),
    "keepRequest": assign(keep_request),
    "forgetRequest": assign(forget_request),
    "reportWaiting": enqueue_actions(report_waiting),
    "awaitResults": assign(tool_calls.await_results),
    "reportAwaiting": enqueue_actions(report_awaiting),
    "reportAgain": send_parent(report_again),
    "goOnIfWaited": enqueue_actions(go_on_if_waited),
    "waitAtLimit": assign(limits.wait_at_limit),
    "reportLimit": enqueue_actions(report_limit),
    "answerLimit": assign(answer_limit),
    "raiseLimit": assign(raise_limit),
    "leaveLimit": assign(limits.leave_limit),
    "noteWarning": assign(limits.note_warning),
    "armWallTime": enqueue_actions(limits.arm_wall_time),
    "disarmWallTime": enqueue_actions(limits.disarm_wall_time),
    "noteWallTime": assign(limits.note_wall_time),
    "cutAtLimit": enqueue_actions(limits.cut_at_limit),
}
GUARDS: dict[str, Callable[..., bool]] = {
    "mustCallTools": tool_calls.must_call_tools,
    "isRequestLost": tool_calls.is_request_lost,
    "mustAwaitResults": tool_calls.must_await_results,
    "mustRefuseTools": tool_calls.must_refuse_tools,
    "mustRefuseAloud": must_refuse_aloud,
    "mustAskAgain": must_ask_again,
    "isWaiting": is_waiting,
    "isAtLimit": limits.is_at_limit,
    "isLimitRaised": limits.is_limit_raised,
    "mustWarn": limits.must_warn,
    "mustArmWallTime": limits.must_arm_wall_time,
    "mustDisarmWallTime": limits.must_disarm_wall_time,
    "isTimed": limits.is_timed,
}
