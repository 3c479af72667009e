"""The work of agents: their results and sessions, and what the context keeps of them."""

from collections.abc import Callable, Sequence
from typing import Any

from antiphon.agents.machine import revocations, sessions
from antiphon.agents.machine.choices import completed_step, count_failure
from antiphon.agents.machine.context import OrchestratorContext, OrchestratorUpdate, now_of, recent_messages
from antiphon.agents.machine.decisions import MAPPING
from antiphon.agents.machine.events import AgentChangedPlan, AgentSpoke, ExecutionFields
from antiphon.agents.machine.outcome import denied_after
from antiphon.agents.machine.output_patterns import SearchOutput, search_output
from antiphon.agents.machine.plan import TaskPlan, current_step, plan_of, with_step
from antiphon.agents.machine.results import (
    AgentResult,
    RunError,
    add_usage,
    entry_of,
    error_of,
    results_of,
)
from antiphon.chart.actions import BoundAction, assign


def begin_execution(context: OrchestratorContext, event: ExecutionFields) -> OrchestratorUpdate:
    """Count the iteration, note its start, and mark its steps as in progress."""
    plan = context["plan"]
    now = now_of(context, event)
    for assignment in context["crew"]:
        agent = context["agents"].get(assignment["mode"])
        step = assignment.get("step")
        current = current_step(plan)
        if step is None and current is not None and agent is not None and not agent.get("plans"):
            step = current["index"]
        if plan is not None and step is not None:
            plan = with_step(plan, step, "in_progress", assignment["mode"])
    return {
        "iterationCount": context["iterationCount"] + 1,
        "executionStartedAt": now,
        "executionCostUsd": 0,
        "now": now,
        "plan": plan,
        "lostIn": None,
        "atWork": True,
    }


def begin_turn(context: OrchestratorContext) -> OrchestratorUpdate:
    """Note how many words of a person are in the prompts of the turn, and that no permission was taken back in it."""
    return {"heard": len(context["guidance"]), "revoked": []}


def end_execution(context: OrchestratorContext) -> OrchestratorUpdate:
    """Forget running tools, questions and lost agents of a crew that has ended."""
    return {"toolsRunning": 0, "waiting": [], "lostAgents": []}


def note_spent(context: OrchestratorContext, event: AgentSpoke) -> OrchestratorUpdate:
    """Charge a message as soon as its cost is known."""
    cost = event.get("costUsd") or 0
    return {
        "costUsd": context["costUsd"] + cost,
        "executionCostUsd": context["executionCostUsd"] + cost,
        "usage": add_usage(context["usage"], event.get("usage")),
        "now": now_of(context, event),
    }


def keep_result(context: OrchestratorContext, event: ExecutionFields) -> OrchestratorUpdate:
    """Keep the conversations, plan, cost and outcome of agents; a success clears the last error, a failure counts.

    Words that a person has said since the turn began are for the next one.
    """
    return {**keep_result_by(search_output, context, event), "guidance": context["guidance"][context["heard"] :]}


def keep_result_by(search: SearchOutput, context: OrchestratorContext, event: ExecutionFields) -> OrchestratorUpdate:
    """Keep the result of agents; `search` matches their patterns with their output."""
    revoked = context.get("revoked", ())  # a context of version 1 has no such key
    results = results_of(event, context["currentMode"])
    plan = context["plan"]
    conversations = context["conversations"]
    consent = context["consent"]
    successes: list[AgentResult] = []
    total: float = 0
    for result in results:
        agent = str(result.get("agent"))
        plan = _plan_after(context, plan, result, search)
        messages = result.get("messages")
        if messages:
            conversations = {**conversations, agent: recent_messages(list(messages))}
        consent = revocations.consent_after(consent, result, revoked)
        if result.get("success"):
            successes.append(result)
        total += result.get("costUsd") or 0
    update: OrchestratorUpdate = {
        "plan": plan,
        "conversations": conversations,
        "consent": consent,
        "messages": conversations.get(context["currentMode"], context["messages"]),
        "costUsd": context["costUsd"] + max(0, total - context["executionCostUsd"]),
        "now": now_of(context, event),
        "guidance": [],
        "summary": "\n\n".join([str(result.get("summary") or "") for result in successes or results]).strip(),
    }
    if successes:
        return {**update, "consecutiveFailures": 0, "lastError": None}
    return {**update, **count_failure(context), "lastError": _error_in(results)}


def _plan_after(
    context: OrchestratorContext, plan: TaskPlan | None, result: AgentResult, search: SearchOutput
) -> TaskPlan | None:
    plan = plan_of(result.get("planUpdates"), plan)
    if plan is None:
        return None
    step = completed_step(context, plan, result, search)
    if step is not None:
        return with_step(plan, step, "complete", str(result.get("agent")))
    step = result.get("step")
    if step is not None and not result.get("success"):
        return with_step(plan, step, "failed", str(result.get("agent")))
    return plan


def _error_in(results: list[AgentResult]) -> RunError:
    error = next((error for result in results if (error := result.get("error"))), None)
    if error is not None:
        return error_of(error)
    message = str(results[0].get("summary") or "the agent did not succeed") if results else "nothing was done"
    return {"name": "AgentFailed", "code": "agent_failed", "message": message, "recoverable": True}


def note_denials(context: OrchestratorContext, event: ExecutionFields) -> OrchestratorUpdate:
    """Note the tools whose last change was denied."""
    return {"denied": denied_after(context["denied"], results_of(event, context["currentMode"]))}


def record_execution(context: OrchestratorContext, event: ExecutionFields) -> OrchestratorUpdate:
    """Append an entry for every agent to the history, in the order of the plan."""
    started = context["executionStartedAt"]
    ended = context["now"]  # set by `keep_result`
    entries = [entry_of(result, started, ended) for result in results_of(event, context["currentMode"])]
    return {"history": [*context["history"], *entries], "atWork": False}


def failure_of(event: ExecutionFields) -> RunError:
    """Return the error in an event, or in the result of an agent that failed outright."""
    output = event.get("result", event.get("output"))
    inner: object = output.get("error") if isinstance(output, MAPPING) else None
    return error_of(event.get("error", inner))


def note_error(context: OrchestratorContext, event: ExecutionFields) -> OrchestratorUpdate:
    """Keep the error of an event."""
    return {"lastError": failure_of(event), "now": now_of(context, event)}


def has_failed_outright(context: OrchestratorContext, event: ExecutionFields) -> bool:
    """Return whether no agent of the crew could work, so that there is nothing to evaluate."""
    output = event.get("result", event.get("output"))
    if not isinstance(output, MAPPING):
        return False
    results = output.get("results")
    if results is None or not isinstance(results, Sequence):
        return bool(output.get("failedOutright"))
    return bool(results) and all(result.get("failedOutright") for result in results)


def record_failure(context: OrchestratorContext, event: ExecutionFields) -> OrchestratorUpdate:
    """Append the failed turn to the history, with what it did before it failed."""
    results: list[AgentResult] = [{"agent": context["currentMode"], "success": False, "error": context["lastError"]}]
    if isinstance(event.get("output"), MAPPING):
        results = results_of(event, context["currentMode"])
    ended = now_of(context, event)
    entries = [entry_of(result, context["executionStartedAt"], ended) for result in results]
    return {"history": [*context["history"], *entries], "atWork": False}


def record_cancelled(context: OrchestratorContext, event: ExecutionFields) -> OrchestratorUpdate:
    """Append the interrupted turns to the history, if agents were at work."""
    if not context["atWork"]:
        return {}
    ended = now_of(context, event)
    results: list[AgentResult] = [
        {"agent": assignment["mode"], "step": assignment.get("step"), "cancelled": True}
        for assignment in context["crew"]
    ]
    if isinstance(event.get("output"), MAPPING):
        # A tool ended within the grace time: the results until then are known.
        results = results_of(event, context["currentMode"])
    entries = [entry_of(result, context["executionStartedAt"], ended) for result in results]
    return {"history": [*context["history"], *entries], "now": ended, "atWork": False}


def skip_step(context: OrchestratorContext) -> OrchestratorUpdate:
    """Skip the current step of the plan."""
    step = current_step(context["plan"])
    assert context["plan"] is not None
    assert step is not None
    return {"plan": with_step(context["plan"], step["index"], "skipped")}


def finish_plan(context: OrchestratorContext) -> OrchestratorUpdate:
    """Complete the steps in progress; steps that were never begun stay pending."""
    plan = context["plan"]
    for step in plan["steps"] if plan is not None else ():
        if step["status"] == "in_progress" and plan is not None:
            plan = with_step(plan, step["index"], "complete")
    return {"plan": plan}


def update_plan(context: OrchestratorContext, event: AgentChangedPlan) -> OrchestratorUpdate:
    """Change the plan as an agent says during its turn."""
    return {"plan": plan_of(event.get("planUpdates"), context["plan"])}


def has_open_step(context: OrchestratorContext) -> bool:
    """Return whether a step of the plan is not finished."""
    return current_step(context["plan"]) is not None


ACTIONS: dict[str, BoundAction[OrchestratorContext, Any]] = {
    **sessions.ACTIONS,
    **revocations.ACTIONS,
    "noteError": assign(note_error),
    "beginExecution": assign(begin_execution),
    "beginTurn": assign(begin_turn),
    "endExecution": assign(end_execution),
    "noteSpent": assign(note_spent),
    "updatePlan": assign(update_plan),
    "keepResult": assign(keep_result),
    "recordExecution": assign(record_execution),
    "recordFailure": assign(record_failure),
    "recordCancelled": assign(record_cancelled),
    "skipStep": assign(skip_step),
    "finishPlan": assign(finish_plan),
    "noteDenials": assign(note_denials),
}
GUARDS: dict[str, Callable[..., bool]] = {
    "hasOpenStep": has_open_step,
    "hasFailedOutright": has_failed_outright,
    "hasPermission": revocations.has_permission,
}
