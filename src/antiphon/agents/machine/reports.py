"""What people and the parent are told: every line that a run shows, as an event of the journal."""

from collections.abc import Mapping
from typing import Any

from antiphon.agents.machine.agent_config import agents_of
from antiphon.agents.machine.context import OrchestratorContext, Output
from antiphon.agents.machine.plan import checked
from antiphon.chart.actions import Enqueue

Event = Mapping[str, Any]
Json = dict[str, Any]
Choice = Enqueue[Any, Any]
NOTHING_TO_RESUME = "there is nothing to go on with: the run has ended, or never began; give it a task"


def line(type: str, text: str, **facts: Any) -> Json:
    """A line for people, with the facts behind it."""
    return {"type": type, "text": f"[rawko] {text}", **facts}


def counts(context: OrchestratorContext) -> Json:
    """What a run counts: failures in a row, and money."""
    return {"failures": context["consecutiveFailures"], "costUsd": context["costUsd"]}


def task_started(context: OrchestratorContext) -> Json:
    """A task begins."""
    return line("task_started", f"Starting task: {context['task']}", task=context["task"])


def agent_started(context: OrchestratorContext) -> Json:
    """An agent, or several, begin to work."""
    name, count = context["currentMode"], context["iterationCount"]
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


def agent_completed(context: OrchestratorContext) -> Json:
    """An agent has ended its turn."""
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


def agent_failed(context: OrchestratorContext) -> Json:
    """An agent could not work."""
    error = context["lastError"]
    message = error["message"] if error else None
    return line("agent_failed", f"Agent '{context['currentMode']}' error: {message}", error=error, **counts(context))


def tool_called(context: OrchestratorContext, event: Event) -> Json:
    """An agent uses a tool."""
    call = event["toolCall"]
    return line("tool_called", f"Tool call: {call['name']}", toolCall=call, agentId=event.get("agentId"))


def completed(context: OrchestratorContext) -> Json:
    """The run has come to its end."""
    return line("completed", f"Task completed in {context['iterationCount']} iterations")


def failed(context: OrchestratorContext) -> Json:
    """The run has failed."""
    return line("failed", f"Task failed after {context['totalFailures']} failures", error=context["lastError"])


def cancelled(context: OrchestratorContext) -> Json:
    """The run was cancelled."""
    return line("cancelled", "Task cancelled")


def max_iterations(context: OrchestratorContext) -> Json:
    """Agents have worked as often as they may."""
    return line("limit_reached", f"Max iterations ({context['maxIterations']}) reached")


def max_failures(context: OrchestratorContext) -> Json:
    """Too much failed."""
    return line("limit_reached", f"Max consecutive failures ({context['consecutiveFailures']}) reached")


def recovering(context: OrchestratorContext) -> Json:
    """After an error it goes on."""
    error = context["lastError"]
    return line("recovering", f"Recovering from error: {error['message'] if error else None}", **counts(context))


def output(context: OrchestratorContext) -> Output:
    """How the run ended; that it is in `complete` does not mean that the task is done."""
    reason = context["reason"] or "failed"
    is_planned = reason == "dry_run" and checked(context["plan"], list(agents_of(context["agents"])))["isSure"]
    started, now = context["startedAt"], context["now"]
    found: Output = {
        "success": reason == "completed" or bool(is_planned),
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
        found["error"] = context["lastError"]
    return found


def report_end(context: OrchestratorContext, event: Event, enqueue: Choice) -> None:
    """Tell everybody how it ended, and the parent in its own words."""
    found = output(context)
    times = {key: context[key] for key in ("task", "startedAt", "now")}
    enqueue.emit({"type": "run_ended", **found, **times})
    if not context["reportsToParent"]:
        return
    told: Json = {"runId": context["runId"], "cost": found["costUsd"], "duration": found["durationMs"] or 0}
    if found["reason"] == "cancelled":
        enqueue.send_parent({"type": "STOP", **told})
    elif found["success"] or found["reason"] == "dry_run":
        enqueue.send_parent({"type": "COMPLETE", **told})
    else:
        short = {"code": found["reason"], "message": found["summary"], "recoverable": True}
        error = found.get("error")
        plain = {key: error[key] for key in ("code", "message", "recoverable")} if error else short
        enqueue.send_parent({"type": "FAIL", "error": plain, **told})


def report_waiting(context: OrchestratorContext, event: Event, enqueue: Choice) -> None:
    """Tell the parent that a person is asked."""
    if context["reportsToParent"] and context["waiting"]:
        reason, cost = context["waiting"][0]["reason"], context["costUsd"]
        enqueue.send_parent({"type": "WAIT", "reason": reason, "runId": context["runId"], "cost": cost})


def report_going_on(context: OrchestratorContext, event: Event, enqueue: Choice) -> None:
    """Tell the parent that nobody is asked any more."""
    if context["reportsToParent"] and not context["waiting"]:
        enqueue.send_parent({"type": "RESPOND", "runId": context["runId"]})


def tell_loss(context: OrchestratorContext, event: Event, enqueue: Choice) -> None:
    """Tell everybody that a process was lost, and that the run can be resumed."""
    error = {"code": "interrupted", "message": "the process was lost in mid-work", "recoverable": True}
    enqueue.emit(line("interrupted", "Interrupted: the process was lost"))
    if context["reportsToParent"]:
        told = {"runId": context["runId"], "cost": context["costUsd"], "duration": 0}
        enqueue.send_parent({"type": "FAIL", "error": error, **told})


def refuse_aloud(context: OrchestratorContext, event: Event, enqueue: Choice) -> None:
    """Tell the parent that there is nothing to go on with, so that no thread waits for nothing."""
    if context["reportsToParent"]:
        error = {"code": "nothing_to_resume", "message": NOTHING_TO_RESUME, "recoverable": False}
        told = {"runId": event.get("runId"), "cost": context["costUsd"], "duration": 0}
        enqueue.send_parent({"type": "FAIL", "error": error, **told})


def report_reset(context: OrchestratorContext, event: Event, enqueue: Choice) -> None:
    """Tell the parent that its run is over."""
    if context["reportsToParent"] and context["runId"] is not None:
        enqueue.send_parent({"type": "STOP", "runId": context["runId"], "cost": context["costUsd"]})
