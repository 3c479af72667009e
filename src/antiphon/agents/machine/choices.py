"""The choice of the next agents: by a decision, by a rule, or by a person."""

from collections.abc import Mapping
from typing import cast

from antiphon.agents.machine.agent_config import default_agent, has_output_rule, next_by_rule
from antiphon.agents.machine.context import OrchestratorContext, OrchestratorUpdate, fresh_task, now_of
from antiphon.agents.machine.decisions import (
    MAPPING,
    MOST_PARALLEL,
    Assignment,
    DecisionEvent,
    PartialDecision,
    assignments_of,
    decision_of,
    is_too_wide,
)
from antiphon.agents.machine.events import SelectionFields, TaskFields
from antiphon.agents.machine.limits import has_room
from antiphon.agents.machine.output_patterns import SearchOutput, search_output
from antiphon.agents.machine.plan import TaskPlan, current_step, plan_of, ready_steps, with_step
from antiphon.agents.machine.results import AgentResult, ResultEvent, RunError, add_usage, results_of


def task_of(event: TaskFields) -> str:
    """Return the task, or the words, in an event."""
    parts = event.get("parts") or ()
    words = "".join(part["text"] for part in parts if part["type"] == "text")
    return str(event.get("task") or event.get("text") or words).strip()


def has_task(context: OrchestratorContext, event: TaskFields) -> bool:
    """Return whether an event brings a task."""
    return bool(task_of(event))


def start_task(context: OrchestratorContext, event: TaskFields) -> OrchestratorUpdate:
    """Start a task, and forget the one before."""
    return {
        **fresh_task(context),
        "task": task_of(event),
        "startedAt": event.get("at"),
        "now": event.get("at"),
        "runId": event.get("runId"),
        "plan": plan_of(event.get("plan")) or (context["plan"] if not context["task"] else None),
        "forcedAgent": event.get("agentName") or context["forcedAgent"],
    }


def name_of(event: SelectionFields) -> str:
    """Return the name of the agent that an event selects, or an empty string."""
    agent: object = event.get("agentName") or event.get("agent")
    output = event.get("output")
    if not agent and isinstance(output, MAPPING):
        agent = output.get("agent")
    if agent and isinstance(agent, MAPPING):
        agent = agent.get("name")
    if not agent:
        decision = decision_of(event)
        agent = decision.get("mode") if decision.get("type", "SELECT_MODE") == "SELECT_MODE" else None
    return str(agent or "")


def has_agent(context: OrchestratorContext, event: SelectionFields, params: Mapping[str, str] | None = None) -> bool:
    """Return whether the agent named by `params` or by the event exists, and no more are selected than can work."""
    name = (params or {}).get("name") or name_of(event)
    return name in context["agents"] and not is_too_wide(decision_of(event))


def is_unknown_agent(context: OrchestratorContext, event: SelectionFields) -> bool:
    """Return whether a selection is impossible: of an unknown agent, or of too many."""
    return bool(name_of(event)) and not has_agent(context, event)


def has_default_agent(context: OrchestratorContext) -> bool:
    """Return whether an agent can work without a choice."""
    return default_agent(context["agents"], context["defaultAgent"]) is not None


def has_current_agent(context: OrchestratorContext) -> bool:
    """Return whether an agent was chosen before."""
    return context["currentMode"] in context["agents"]


def is_complete(context: OrchestratorContext, event: DecisionEvent) -> bool:
    """Return whether a decision ends the task."""
    return decision_of(event).get("type") == "COMPLETE"


def should_retry(context: OrchestratorContext, event: DecisionEvent) -> bool:
    """Return whether the last turn is repeated."""
    return decision_of(event).get("type") == "RETRY"


def should_continue(context: OrchestratorContext, event: SelectionFields) -> bool:
    """Return whether the same agent continues."""
    return decision_of(event).get("type") == "CONTINUE" and context["currentMode"] in context["agents"]


def starts_forced(context: OrchestratorContext, event: TaskFields) -> bool:
    """Return whether a task begins with an agent that a person selected."""
    return bool(task_of(event)) and (event.get("agentName") or context["forcedAgent"]) in context["agents"]


def assign_crew(context: OrchestratorContext, crew: list[Assignment]) -> OrchestratorUpdate:
    """Let these agents work next; the first of them is the current agent."""
    name = crew[0]["mode"]
    agent = context["agents"][name]
    conversation = context["conversations"].get(name, [])
    return {"currentAgent": agent, "currentMode": name, "crew": crew, "messages": conversation}


def choose_agent(context: OrchestratorContext, event: SelectionFields) -> OrchestratorUpdate:
    """Choose as the arbiter decided: one agent, or up to four for steps that do not wait for each other."""
    decision = context["lastArbiterDecision"]  # set by `note_decision`
    crew: list[Assignment] = []
    if decision is not None and decision.get("parallel"):
        ready = [step["index"] for step in ready_steps(context["plan"])]
        crew = [item for item in assignments_of(decision, ready) if item["mode"] in context["agents"]]
    return assign_crew(context, crew if len(crew) > 1 else [{"mode": name_of(event), "step": None}])


def choose_default(context: OrchestratorContext) -> OrchestratorUpdate:
    """Choose the current agent, else the default one."""
    name = context["currentMode"] if context["currentMode"] in context["agents"] else None
    name = name or default_agent(context["agents"], context["defaultAgent"])
    return assign_crew(context, [{"mode": name or "", "step": None}])


def choose_same(context: OrchestratorContext) -> OrchestratorUpdate:
    """Choose the current agent again, alone."""
    return assign_crew(context, [{"mode": context["currentMode"], "step": None}])


def choose_forced(context: OrchestratorContext, event: SelectionFields) -> OrchestratorUpdate:
    """Choose the agent that a person selected."""
    name = event.get("agentName") or context["forcedAgent"]
    return {**assign_crew(context, [{"mode": str(name), "step": None}]), "forcedAgent": None}


def note_decision(context: OrchestratorContext, event: SelectionFields) -> OrchestratorUpdate:
    """Keep the arbiter's decision and its cost, and complete the steps that it names."""
    decision = cast(PartialDecision, dict(decision_of(event)))
    completed = decision.get("completed") or ()
    if not decision.get("type"):
        decision = {"type": "SELECT_MODE", "mode": name_of(event), "reason": "given"}
    output = event.get("output")
    cost = 0.0
    usage = None
    if isinstance(output, MAPPING):
        cost = output.get("costUsd") or 0
        usage = output.get("usage")
    plan = context["plan"]
    if plan is not None:
        for index in completed:
            plan = with_step(plan, index, "complete")
    return {
        "lastArbiterDecision": decision,
        "plan": plan,
        "costUsd": context["costUsd"] + cost,
        "usage": add_usage(context["usage"], usage),
        "now": now_of(context, event),
        "summary": str(decision.get("summary") or context["summary"]),
        "reason": "completed" if decision["type"] == "COMPLETE" else None,
    }


def rule_of(context: OrchestratorContext, event: ResultEvent) -> str | None:
    """Return what the rules of an agent that worked alone select, if they select something and no limit is reached."""
    return rule_by(search_output, context, event)


def rule_by(search: SearchOutput, context: OrchestratorContext, event: ResultEvent) -> str | None:
    """Return what the rules of an agent select; `search` matches its patterns with its output."""
    agent = context["currentAgent"]
    if agent is None or not agent.get("transitions") or len(context["crew"]) > 1:
        return None
    results = results_of(event, context["currentMode"])
    if len(results) != 1:
        return None
    [result] = results
    failures = 0 if result.get("success") else context["consecutiveFailures"] + 1
    cost = context["costUsd"] - context["executionCostUsd"] + (result.get("costUsd") or context["executionCostUsd"])
    after: OrchestratorContext = {**context, "consecutiveFailures": failures, "costUsd": cost}
    selection = next_by_rule(
        agent,
        success=bool(result.get("success")),
        exhausted=bool(result.get("exhausted")),
        output=str(result.get("summary") or ""),
        search=search,
    )
    if selection == "COMPLETE":
        return selection
    is_possible = selection in context["agents"] or selection in ("CONTINUE", "RETRY")
    return selection if is_possible and has_room(after) else None


def is_decided_by_rule(context: OrchestratorContext, event: ResultEvent) -> bool:
    """Return whether a rule of the agent decides what comes next."""
    return rule_of(context, event) is not None


def is_completed_by_rule(context: OrchestratorContext, event: ResultEvent) -> bool:
    """Return whether a rule of the agent ends the task."""
    return rule_of(context, event) == "COMPLETE"


def decide_by_rule(context: OrchestratorContext, event: ResultEvent) -> OrchestratorUpdate:
    """Decide as the agent's own rule says."""
    return decide_with(search_output, context, event)


def decide_with(search: SearchOutput, context: OrchestratorContext, event: ResultEvent) -> OrchestratorUpdate:
    """Decide as the agent's own rule says; `search` matches its patterns with its output."""
    selection = rule_by(search, {**context, "consecutiveFailures": 0, "costUsd": 0}, event)
    if selection == "COMPLETE":
        summary = context["summary"]
        return {"lastArbiterDecision": {"type": "COMPLETE", "summary": summary}, "reason": "completed"}
    mode = selection if selection is not None and selection in context["agents"] else context["currentMode"]
    reason = f"rule of {context['currentMode']}"
    return {"lastArbiterDecision": {"type": "SELECT_MODE", "mode": mode, "reason": reason}}


def choose_by_rule(context: OrchestratorContext) -> OrchestratorUpdate:
    """Choose the agent that the rule selected."""
    decision = context["lastArbiterDecision"] or {}
    return assign_crew(context, [{"mode": decision.get("mode") or context["currentMode"], "step": None}])


def completed_step(
    context: OrchestratorContext, plan: TaskPlan | None, result: AgentResult, search: SearchOutput
) -> int | None:
    """Return the step that a successful turn completes: its own, or the current one if its agent completes steps."""
    if not result.get("success"):
        return None
    step = result.get("step")
    if step is not None:
        return step
    agent = context["agents"].get(str(result.get("agent")))
    current = current_step(plan)
    if agent is None or current is None or not agent.get("completesStep"):
        return None
    return None if has_output_rule(agent, str(result.get("summary") or ""), search) else current["index"]


def fail_unknown_agent(context: OrchestratorContext, event: SelectionFields) -> OrchestratorUpdate:
    """Count an impossible selection as a failure; another selection may be better."""
    decision = decision_of(event)
    error: RunError
    if is_too_wide(decision):
        message = (
            f"Arbiter selected {len(decision['parallel'])} agents at once; at most {MOST_PARALLEL} work in parallel"
        )
        error = {"name": "TooManyAgents", "code": "too_many_agents", "message": message, "recoverable": True}
    else:
        message = f"Arbiter selected unknown agent: {name_of(event)}"
        error = {"name": "UnknownAgent", "code": "unknown_agent", "message": message, "recoverable": True}
    return {**count_failure(context), "lastError": error}


def count_failure(context: OrchestratorContext) -> OrchestratorUpdate:
    """Count one more failure."""
    return {
        "consecutiveFailures": context["consecutiveFailures"] + 1,
        "totalFailures": context["totalFailures"] + 1,
    }
