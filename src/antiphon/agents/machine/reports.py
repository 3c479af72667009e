"""Reports of a run: events of the journal for people, and events for the parent."""

from typing import Any

from antiphon.agents.machine.agent_config import agents_of
from antiphon.agents.machine.context import OrchestratorContext, OrchestratorEnqueue, Output
from antiphon.agents.machine.events import (
    AgentCalledTool,
    AgentGoesOn,
    AgentSpoke,
    ErrorFields,
    RulesDecided,
    RunCommand,
)
from antiphon.agents.machine.log import line, log, write_line
from antiphon.agents.machine.outcome import DENIED, OPEN_STEPS, describe_rest, judge_outcome
from antiphon.agents.machine.plan import review_plan
from antiphon.agents.machine.results import Json, error_of
from antiphon.chart.actions import BoundAction, emit, enqueue_actions
from antiphon.threads.machine.content import is_key_missing

LOST_PROCESS: Json = {"code": "interrupted", "message": "the process was lost in mid-work", "recoverable": True}
NOTHING_TO_RESUME = "there is nothing to go on with: the run has ended, or never began; give it a task"


def counts(context: OrchestratorContext) -> Json:
    """Return the counters of a run: consecutive failures and cost."""
    return {"failures": context["consecutiveFailures"], "costUsd": context["costUsd"]}


def task_start(context: OrchestratorContext) -> Json:
    """Report the start of a task."""
    return line("task_started", f"Starting task: {context['task']}", task=context["task"])


def agent_start(context: OrchestratorContext) -> Json:
    """Report that agents begin to work."""
    name = context["currentMode"]
    count = context["iterationCount"]
    return line(
        "agent_started",
        f"Agent '{name}' starting (iteration {count})",
        agent=name,
        iteration=count,
        crew=context["crew"],
        plan=context["plan"],
        decision=context["lastArbiterDecision"],
        failures=context["consecutiveFailures"],
        costUsd=context["costUsd"],
    )


def agent_completion(context: OrchestratorContext) -> Json:
    """Report the end of an agent's turn."""
    name = context["currentMode"]
    return line(
        "agent_completed",
        f"Agent '{name}' completed",
        agent=name,
        entries=context["history"][-(len(context["crew"]) or 1) :],
        plan=context["plan"],
        failures=context["consecutiveFailures"],
        costUsd=context["costUsd"],
    )


def agent_failure(context: OrchestratorContext) -> Json:
    """Report that an agent could not work."""
    error = context["lastError"]
    message = error["message"] if error else None
    text = f"Agent '{context['currentMode']}' error: {message}"
    return line("agent_failed", text, "error", error=error, **counts(context))


def agent_message(context: OrchestratorContext, event: AgentSpoke, enqueue: OrchestratorEnqueue) -> None:
    """Report a message of an agent's model; messages of other roles are not shown."""
    if event["message"].get("role") == "assistant":
        enqueue.emit(
            {
                "type": "agent_message",
                "agentId": event.get("agentId"),
                "message": event["message"],
                "costUsd": event.get("costUsd"),
            }
        )


def tool_call(context: OrchestratorContext, event: AgentCalledTool) -> Json:
    """Report a tool call."""
    call = event["toolCall"]
    return line("tool_called", f"Tool call: {call['name']}", toolCall=call, agentId=event.get("agentId"))


def tool_result(context: OrchestratorContext, event: Json) -> Json:
    """Report the result of a tool call."""
    return {**event, "type": "tool_answered"}


def plan_change(context: OrchestratorContext) -> Json:
    """Report a changed plan."""
    return {"type": "plan_changed", "plan": context["plan"]}


def agent_waiting(context: OrchestratorContext) -> Json:
    """Report the request that was noted last."""
    return {"type": "agent_waits", **context["waiting"][-1]}


def agent_going_on(context: OrchestratorContext, event: AgentGoesOn) -> Json:
    """Report that the request of an agent is closed."""
    return {**event, "type": "agent_goes_on"}


def completion(context: OrchestratorContext) -> Json:
    """Report the end of the run."""
    return line("completed", f"Task completed in {context['iterationCount']} iterations")


def failure(context: OrchestratorContext) -> Json:
    """Report the failure of the run."""
    text = f"Task failed after {context['totalFailures']} failures"
    return line("failed", text, "error", error=context["lastError"])


def cancellation(context: OrchestratorContext) -> Json:
    """Report that the run was cancelled."""
    return line("cancelled", "Task cancelled")


def max_iterations(context: OrchestratorContext) -> Json:
    """Report that the limit of iterations is reached."""
    return line("limit_reached", f"Max iterations ({context['maxIterations']}) reached", "warning")


def max_failures(context: OrchestratorContext) -> Json:
    """Report that the limit of consecutive failures is reached."""
    return line("limit_reached", f"Max consecutive failures ({context['consecutiveFailures']}) reached", "error")


def cost_limit(context: OrchestratorContext) -> Json:
    """Report that the cost limit is reached."""
    return line("limit_reached", f"Cost limit ({context['maxCostUsd']} USD) reached", "warning")


def wall_time(context: OrchestratorContext) -> Json:
    """Report that the time limit is reached."""
    return line("limit_reached", f"Time limit ({context['maxWallMs']} ms) reached", "warning")


def recovery(context: OrchestratorContext) -> Json:
    """Report that the run continues after an error."""
    error = context["lastError"]
    text = f"Recovering from error: {error['message'] if error else None}"
    return line("recovering", text, "info", **counts(context))


def rules_decision(context: OrchestratorContext, event: RulesDecided, enqueue: OrchestratorEnqueue) -> None:
    """Report that rules decide in place of a model, and why."""
    text = f"Rules decide: {event['reason']}"
    write_line(context, enqueue, line("rules_decided", text, "warning", reason=event["reason"]))


def output(context: OrchestratorContext) -> Output:
    """Return the result of the run with its log; the state `complete` does not mean that the task is done."""
    return {**result_of(context), "log": context["log"]}


def result_of(context: OrchestratorContext) -> Output:
    """Return the result of the run, without its log."""
    reason = context["reason"] or "failed"
    is_planned = reason == "dry_run" and review_plan(context["plan"], list(agents_of(context["agents"])))["isSure"]
    started = context["startedAt"]
    now = context["now"]
    result: Output = {
        "success": reason == "completed" or is_planned,
        "reason": reason,
        "summary": context["summary"],
        "plan": context["plan"],
        "history": context["history"],
        "iterations": context["iterationCount"],
        "failures": context["totalFailures"],
        "costUsd": context["costUsd"],
        "usage": context["usage"],
        "durationMs": None if started is None or now is None else now - started,
    }
    if context["lastError"] is not None and reason == "failed":
        result["error"] = context["lastError"]
    elif reason in (DENIED, OPEN_STEPS):
        message = describe_rest(context, reason)
        result["error"] = {"name": "NotDone", "code": reason, "message": message, "recoverable": True}
    return result


def report_end(context: OrchestratorContext, event: RunCommand, enqueue: OrchestratorEnqueue) -> None:
    """Report the result, and tell the parent with the events it knows."""
    report_result(output(context), context, enqueue)


def report_result(result: Output, context: OrchestratorContext, enqueue: OrchestratorEnqueue) -> None:
    """Emit a result, and send it to the parent."""
    times: Json = {"task": context["task"], "startedAt": context["startedAt"], "now": context["now"]}
    enqueue.emit({"type": "run_ended", **result, **times})
    if not context["reportsToParent"]:
        return
    facts: Json = {"runId": context["runId"], "cost": result["costUsd"], "duration": result["durationMs"] or 0}
    if result["reason"] == "cancelled":
        enqueue.send_parent({"type": "STOP", **facts})
    elif result["success"] or result["reason"] == "dry_run":
        enqueue.send_parent({"type": "COMPLETE", **facts})
    else:
        error = result.get("error")
        if error:
            report: Json = {key: error[key] for key in ("code", "message", "recoverable")}
        else:
            report = {"code": result["reason"], "message": result["summary"], "recoverable": True}
        enqueue.send_parent({"type": "FAIL", "error": report, **facts})


def report_waiting(context: OrchestratorContext, event: RunCommand, enqueue: OrchestratorEnqueue) -> None:
    """Tell the parent which requests wait for a person."""
    if context["reportsToParent"] and context["waiting"]:
        _send_waiting(context, enqueue, reason=context["waiting"][0]["reason"])


def _send_waiting(context: OrchestratorContext, enqueue: OrchestratorEnqueue, **reason: str) -> None:
    facts: Json = {"runId": context["runId"], "cost": context["costUsd"], "requests": context["waiting"]}
    enqueue.send_parent({"type": "WAIT", **reason, **facts})


def report_going_on(context: OrchestratorContext, event: RunCommand, enqueue: OrchestratorEnqueue) -> None:
    """Tell the parent which requests are left, or that none is; the run cannot go on while an agent is lost."""
    if not context["reportsToParent"]:
        return
    if context["waiting"]:
        report_waiting(context, event, enqueue)
    elif context["lostAgents"]:
        _send_waiting(context, enqueue)
    else:
        enqueue.send_parent({"type": "GO_ON", "runId": context["runId"]})


def stop_waiting(context: OrchestratorContext, event: RunCommand, enqueue: OrchestratorEnqueue) -> None:
    """Tell the parent that the requests of agents that are stopped are closed."""
    if context["reportsToParent"] and context["waiting"]:
        enqueue.send_parent({"type": "GO_ON", "runId": context["runId"]})


def lacks_key(event: ErrorFields) -> bool:
    """Return whether an event brings the error that a key is missing."""
    return is_key_missing(event.get("error"))


def tell_loss(context: OrchestratorContext, event: ErrorFields, enqueue: OrchestratorEnqueue) -> None:
    """Report that the process was lost, or lacks a key, and that the run can be resumed."""
    if lacks_key(event):
        failure: Json = {**error_of(event.get("error"))}
        write_line(context, enqueue, line("interrupted", f"Waiting: {failure['message']}", "warning"))
        send_loss(context, enqueue, {key: failure[key] for key in ("code", "message", "recoverable")})
    else:
        write_line(context, enqueue, line("interrupted", "Interrupted: the process was lost", "warning"))
        send_loss(context, enqueue)


def send_loss(context: OrchestratorContext, enqueue: OrchestratorEnqueue, error: Json = LOST_PROCESS) -> None:
    """Tell the parent that the process was lost, or another error after which the run can be resumed."""
    if context["reportsToParent"]:
        facts: Json = {"runId": context["runId"], "cost": context["costUsd"], "duration": 0}
        enqueue.send_parent({"type": "FAIL", "error": error, "requests": context["waiting"], **facts})


def refuse_aloud(context: OrchestratorContext, event: RunCommand, enqueue: OrchestratorEnqueue) -> None:
    """Tell the parent that there is nothing to resume, so that no thread waits forever."""
    if context["reportsToParent"]:
        error: Json = {"code": "nothing_to_resume", "message": NOTHING_TO_RESUME, "recoverable": False}
        facts: Json = {"runId": event.get("runId"), "cost": context["costUsd"], "duration": 0}
        enqueue.send_parent({"type": "FAIL", "error": error, **facts})


def report_reset(context: OrchestratorContext, event: RunCommand, enqueue: OrchestratorEnqueue) -> None:
    """Tell the parent that its run is over."""
    if context["reportsToParent"] and context["runId"] is not None:
        enqueue.send_parent({"type": "STOP", "runId": context["runId"], "cost": context["costUsd"]})


ACTIONS: dict[str, BoundAction[OrchestratorContext, Any]] = {
    "judgeOutcome": enqueue_actions(judge_outcome),
    "logRules": enqueue_actions(rules_decision),
    "streamMessage": enqueue_actions(agent_message),
    "logTaskStart": log(task_start),
    "logAgentStart": log(agent_start),
    "logAgentComplete": log(agent_completion),
    "logAgentError": log(agent_failure),
    "logToolCall": emit(tool_call),
    "logToolResult": emit(tool_result),
    "logCompletion": log(completion),
    "logFailure": log(failure),
    "logCancellation": log(cancellation),
    "logMaxIterations": log(max_iterations),
    "logMaxFailures": log(max_failures),
    "logCostLimit": log(cost_limit),
    "logWallTime": log(wall_time),
    "logRecovery": log(recovery),
    "tellPlan": emit(plan_change),
    "tellWaiting": emit(agent_waiting),
    "tellGoingOn": emit(agent_going_on),
    "tellLoss": enqueue_actions(tell_loss),
    "reportEnd": enqueue_actions(report_end),
    "reportWaiting": enqueue_actions(report_waiting),
    "reportGoingOn": enqueue_actions(report_going_on),
    "stopWaiting": enqueue_actions(stop_waiting),
    "reportReset": enqueue_actions(report_reset),
    "refuseAloud": enqueue_actions(refuse_aloud),
}
