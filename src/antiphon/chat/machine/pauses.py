"""Pauses of a reply, in which a person is asked: for permission to call tools, or for more at a limit."""

from collections.abc import Callable
from typing import Any

from antiphon.chart.actions import Action, Enqueue, assign, enqueue_actions, send_parent, spawn_child, stop_child
from antiphon.chat.machine import limits, tool_calls
from antiphon.chat.machine.context import ErrorInfo, FlowContext
from antiphon.chat.machine.events import AnswerEvent, FlowFields, FlowRequest
from antiphon.chat.machine.operations import begin_run, raise_limit
from antiphon.chat.machine.replies import current_reply, set_phase
from antiphon.chat.machine.validation import refusal

TOOLS = "tools"
_Enqueue = Enqueue[FlowContext, Any]


def must_refuse_aloud(context: FlowContext, event: FlowRequest) -> bool:
    """Return whether a parent must be told that its event is refused."""
    return context["reportsToParent"] and event.get("runId") is not None


def is_waiting(context: FlowContext) -> bool:
    """Return whether the reply waits for a person."""
    return context["reply"] is not None and context["reply"]["waiting"]


def waits_at_limit(context: FlowContext) -> bool:
    """Return whether the reply waits for a person because of a limit."""
    return context["reply"] is not None and context["reply"]["waiting"] and context["reply"]["limit"] is not None


def answers_limit(context: FlowContext, event: FlowRequest) -> bool:
    """Return whether an answer is one about a limit."""
    return waits_at_limit(context) and refusal(context, event) is None


def must_ask_again(context: FlowContext, event: FlowRequest) -> bool:
    """Return whether a parent must be told that the question is still open."""
    return is_waiting(context) and must_refuse_aloud(context, event)


def run_of(context: FlowContext) -> str | None:
    """Return the id of the run that the parent waits for."""
    return context["run"]["runId"] if context["run"] else None


def waiting_report(context: FlowContext, reason: str | None, run_id: str | None) -> dict[str, Any]:
    """Return the report to the parent that a person is asked."""
    return {"type": "WAIT", "reason": reason, "runId": run_id, "cost": context["metrics"]["costUsd"]}


def report_waiting(context: FlowContext, event: FlowFields, enqueue: _Enqueue) -> None:
    """Report to the parent, if there is one, that a person is asked."""
    if context["reportsToParent"]:
        enqueue.send_parent(waiting_report(context, event.get("reason"), run_of(context)))


def report_limit(context: FlowContext, event: FlowFields, enqueue: _Enqueue) -> None:
    """Report to the parent, if there is one, that a person is asked at a limit."""
    if context["reportsToParent"]:
        enqueue.send_parent(waiting_report(context, "limit", run_of(context)))


def report_again(context: FlowContext, event: FlowFields) -> dict[str, Any]:
    """Return the report to a parent that went on while the question is still open."""
    return waiting_report(context, "limit" if waits_at_limit(context) else "permission", event["runId"])


def go_on_if_waited(context: FlowContext, event: FlowFields, enqueue: _Enqueue) -> None:
    """Tell the parent that the question is settled, unless the event came from it and names a run."""
    # The end of the run reports tools that were lost; until then the question is open.
    lost = event["type"] == "xstate.done.actor.tools" and event["output"]["lost"]
    if context["reportsToParent"] and is_waiting(context) and event.get("runId") is None and not lost:
        enqueue.send_parent({"type": "RESPOND", "runId": run_of(context)})


def note_waiting(context: FlowContext) -> FlowContext:
    """Record that the tools wait for a person."""
    return set_phase(context, "tools", waiting=True)


def answer_permission(context: FlowContext, event: AnswerEvent, enqueue: _Enqueue) -> None:
    """Pass a person's answer to the tools that wait for it."""
    answer: dict[str, object] = {"type": "ALLOW" if event["decision"] == "allow" else "DENY"}
    if event.get("id") is not None:
        answer["id"] = event["id"]
    if event.get("scope") is not None:
        answer["scope"] = event["scope"]
    if event.get("reason") is not None:
        answer["reason"] = event["reason"]

    def note_answer(context: FlowContext) -> FlowContext:
        context = limits.continue_at(begin_run(context, event), event.get("at"))
        return set_phase(context, "tools", waiting=False)

    enqueue.assign(note_answer)
    enqueue.send_to(TOOLS, answer)


def answer_limit(context: FlowContext, event: AnswerEvent) -> FlowContext:
    """Raise the limit that the reply waits at, or end the turn there."""
    name = current_reply(context)["limit"]
    assert name is not None
    context = limits.continue_at(begin_run(context, event), event.get("at"))
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
    "refuseTools": assign(tool_calls.refuse_tools),
    "noteWaiting": assign(note_waiting),
    "reportWaiting": enqueue_actions(report_waiting),
    "reportAgain": send_parent(report_again),
    "goOnIfWaited": enqueue_actions(go_on_if_waited),
    "answerPermission": enqueue_actions(answer_permission),
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
    "mustRefuseTools": tool_calls.must_refuse_tools,
    "mustRefuseAloud": must_refuse_aloud,
    "mustAskAgain": must_ask_again,
    "answersLimit": answers_limit,
    "isAtLimit": limits.is_at_limit,
    "isLimitRaised": limits.is_limit_raised,
    "mustWarn": limits.must_warn,
    "mustArmWallTime": limits.must_arm_wall_time,
    "mustDisarmWallTime": limits.must_disarm_wall_time,
    "isTimed": limits.is_timed,
}
