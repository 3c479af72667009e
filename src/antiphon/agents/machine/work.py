"""The work of agents: what they are given, what they gave, and what is kept of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.agents.machine.agent_config import MAX_ITERATIONS, tools_for
from antiphon.agents.machine.briefs import recent
from antiphon.agents.machine.choices import added, completes_step, counted
from antiphon.agents.machine.context import OrchestratorContext, bounded, now_of
from antiphon.agents.machine.decisions import MAPPING
from antiphon.agents.machine.limits import share_of_budget
from antiphon.agents.machine.plan import FINISHED, current_step, plan_of, with_step
from antiphon.agents.machine.results import Failure, entry_of, error_of, results_of

Event = Mapping[str, Any]
Json = dict[str, Any]


def arbiter_input(context: OrchestratorContext) -> Json:
    """What the arbiter is given: the seed's five facts, and what it may still spend."""
    left = None if context["maxCostUsd"] is None else max(0.0, context["maxCostUsd"] - context["costUsd"])
    iterations = max(0, context["maxIterations"] - context["iterationCount"])
    return {
        "task": context["task"],
        "plan": context["plan"],
        "history": context["history"],
        "lastError": context["lastError"],
        "agents": context["agents"],
        "lastExecution": context["history"][-1] if context["history"] else None,
        "arbiter": {"model": context["model"], **context["arbiter"]},
        "defaultAgent": context["defaultAgent"],
        "limits": {"iterations": iterations, "costUsd": left},
    }


def crew_input(context: OrchestratorContext) -> Json:
    """What the executor is given: the seed's five facts, every agent's own input, in the order of the plan, and the
    rest of what a crew tells its agents."""
    share, lately = share_of_budget(context, len(context["crew"])), recent(context["history"])
    return {
        "agent": context["currentAgent"],
        "session": context["session"],
        "task": context["task"],
        "plan": context["plan"],
        "messages": context["messages"],
        "assignments": [_assignment(context, one["mode"], one.get("step"), share) for one in context["crew"]],
        "history": lately,
        "turnsBefore": len(context["history"]) - len(lately),
        "lastError": context["lastError"],
        "guidance": context["guidance"],
    }


def _assignment(context: OrchestratorContext, name: str, step: int | None, share: float | None) -> Json:
    agent = context["agents"][name]
    limits = agent.get("limits") or {}
    own = limits.get("maxCostUsd")
    budgets = [one for one in (share, own) if one is not None]
    options = dict(context["options"])
    if "temperature" in agent:
        options["temperature"] = agent["temperature"]
    if "maxTokens" in limits:
        options["maxTokens"] = limits["maxTokens"]
    return {
        "agent": agent,
        "step": step,
        # Requests of an earlier turn must not be taken for those of this one.
        "turnId": f"{context['iterationCount']}-",
        "model": agent.get("model") or context["model"],
        "messages": bounded(context["conversations"].get(name, [])) if len(context["crew"]) == 1 else [],
        "tools": tools_for(agent, context["tools"]),
        "consent": context["consent"],
        "options": options,
        "budgetUsd": min(budgets) if budgets else None,
        "maxTurns": limits.get("maxIterations", MAX_ITERATIONS),
    }


def begin_execution(context: OrchestratorContext, event: Event) -> Json:
    """One more turn: it is counted and its start noted, and its steps are in progress."""
    plan, now = context["plan"], now_of(context, event)
    for one in context["crew"]:
        agent = context["agents"].get(one["mode"])
        step = one.get("step")
        current = current_step(plan)
        if step is None and current is not None and agent is not None and not agent.get("plans"):
            step = current["index"]
        if plan is not None and step is not None:
            plan = with_step(plan, step, "in_progress", one["mode"])
    return {
        "iterationCount": context["iterationCount"] + 1,
        "executionStartedAt": now,
        "executionCostUsd": 0,
        "now": now,
        "plan": plan,
        "lostIn": None,
        "atWork": True,
    }


def end_execution(context: OrchestratorContext) -> Json:
    """Nobody is at work any more."""
    return {"toolsRunning": 0, "waiting": [], "lostAgents": []}


def note_spent(context: OrchestratorContext, event: Event) -> Json:
    """What a message cost, as soon as it is known."""
    cost = event.get("costUsd") or 0
    return {
        "costUsd": context["costUsd"] + cost,
        "executionCostUsd": context["executionCostUsd"] + cost,
        "usage": added(context["usage"], event.get("usage")),
        "now": now_of(context, event),
    }


def keep_result(context: OrchestratorContext, event: Event) -> Json:
    """What agents gave: their conversations, the plan, the bill; success forgets the last error, failure counts."""
    results = results_of(event, context["currentMode"])
    plan, conversations, consent = context["plan"], context["conversations"], context["consent"]
    successes, total = [], 0
    for result in results:
        plan = plan_of(result.get("planUpdates"), plan)
        step = completes_step(context, plan, result)
        if plan is not None and step is not None:
            plan = with_step(plan, step, "complete", str(result.get("agent")))
        elif plan is not None and result.get("step") is not None and not result.get("success"):
            plan = with_step(plan, result["step"], "failed", str(result.get("agent")))
        if result.get("messages"):
            conversations = {**conversations, str(result.get("agent")): bounded(list(result["messages"]))}
        if result.get("overrides"):
            known = consent.get("overrides", [])
            new = [one for one in result["overrides"] if one not in known]
            consent = {**consent, "overrides": [*known, *new]} if new else consent
        if result.get("success"):
            successes.append(result)
        total += result.get("costUsd") or 0
    kept: Json = {
        "plan": plan,
        "conversations": conversations,
        "consent": consent,
        "messages": conversations.get(context["currentMode"], context["messages"]),
        "costUsd": context["costUsd"] + max(0, total - context["executionCostUsd"]),
        "now": now_of(context, event),
        "guidance": [],
        "summary": "\n\n".join([str(one.get("summary") or "") for one in successes or results]).strip(),
    }
    if successes:
        return {**kept, "consecutiveFailures": 0, "lastError": None}
    return {**kept, **counted(context), "lastError": _error_in(results)}


def _error_in(results: list[Json]) -> Failure:
    found = next((result["error"] for result in results if result.get("error")), None)
    words = str(results[0].get("summary") or "the agent did not succeed") if results else "nothing was done"
    return error_of(found or {"name": "AgentFailed", "code": "agent_failed", "message": words, "recoverable": True})


def record_execution(context: OrchestratorContext, event: Event) -> Json:
    """The history with one entry for every agent, in the order of the plan, from its real start on."""
    started, ended = context["executionStartedAt"], context["now"]  # as kept with the result
    entries = [entry_of(result, started, ended) for result in results_of(event, context["currentMode"])]
    return {"history": [*context["history"], *entries], "atWork": False}


def failure_of(event: Event) -> Failure:
    """The error that an event brings, also inside the result of an agent that failed outright."""
    output = event.get("result", event.get("output"))
    inner = output.get("error") if isinstance(output, MAPPING) else None
    return error_of(event.get("error", inner))


def has_failed_outright(context: OrchestratorContext, event: Event) -> bool:
    """Whether nobody of the crew could even work, so that there is nothing to evaluate."""
    output = event.get("result", event.get("output"))
    if not isinstance(output, MAPPING):
        return False
    results = output.get("results")
    if results is None or not isinstance(results, Sequence):
        return bool(output.get("failedOutright"))
    return bool(results) and all(result.get("failedOutright") for result in results)


def record_failure(context: OrchestratorContext, event: Event) -> Json:
    """The history with the turn that failed, and with what it did before."""
    results: list[Json] = [{"agent": context["currentMode"], "success": False, "error": context["lastError"]}]
    if isinstance(event.get("output"), MAPPING):
        results = results_of(event, context["currentMode"])
    ended = now_of(context, event)
    entries = [entry_of(result, context["executionStartedAt"], ended) for result in results]
    return {"history": [*context["history"], *entries], "atWork": False}


def record_cancelled(context: OrchestratorContext, event: Event) -> Json:
    """The history with what was cut short, if somebody was at work."""
    if not context["atWork"]:
        return {}
    ended = now_of(context, event)
    results = [{"agent": one["mode"], "step": one.get("step"), "cancelled": True} for one in context["crew"]]
    if isinstance(event.get("output"), MAPPING):
        # A tool came to its end within the grace time: what the agents did until then is known.
        results = results_of(event, context["currentMode"])
    entries = [entry_of(result, context["executionStartedAt"], ended) for result in results]
    return {"history": [*context["history"], *entries], "now": ended, "atWork": False}


def skip_step(context: OrchestratorContext) -> Json:
    """The plan without its current step."""
    step = current_step(context["plan"])
    assert context["plan"] is not None
    assert step is not None
    return {"plan": with_step(context["plan"], step["index"], "skipped")}


def finish_plan(context: OrchestratorContext) -> Json:
    """The plan at the end: what was in progress is complete, what was never begun stays so."""
    plan = context["plan"]
    for step in plan["steps"] if plan is not None else ():
        if step["status"] == "in_progress" and step["status"] not in FINISHED and plan is not None:
            plan = with_step(plan, step["index"], "complete")
    return {"plan": plan}


def update_plan(context: OrchestratorContext, event: Event) -> Json:
    """The plan as an agent changed it in mid-work."""
    return {"plan": plan_of(event.get("planUpdates"), context["plan"])}


def has_open_step(context: OrchestratorContext) -> bool:
    """Whether a step of the plan is still to be done."""
    return current_step(context["plan"]) is not None
