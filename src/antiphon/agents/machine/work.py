"""The work of agents: their input, their results, and what the context keeps of them."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict, cast

from antiphon.agents.machine.agent_config import MAX_ITERATIONS, AgentConfig, ToolJson, tools_for
from antiphon.agents.machine.briefs import recent
from antiphon.agents.machine.choices import completed_step, count_failure
from antiphon.agents.machine.context import OrchestratorContext, OrchestratorUpdate, now_of, recent_messages
from antiphon.agents.machine.decisions import MAPPING, Assignment
from antiphon.agents.machine.events import AgentChangedPlan, AgentSpoke, ExecutionFields
from antiphon.agents.machine.limits import remaining_cost, share_of_budget
from antiphon.agents.machine.outcome import denied_after
from antiphon.agents.machine.plan import TaskPlan, current_step, plan_of, with_step
from antiphon.agents.machine.results import (
    AgentResult,
    ExecutionEntry,
    Json,
    ModelSession,
    RunError,
    add_usage,
    entry_of,
    error_of,
    results_of,
)
from antiphon.agents.machine.sessions import ARBITER, SessionInput, session_input
from antiphon.threads.machine.content import MessageJson
from antiphon.threads.machine.permission_rules import ConsentSettings


class RemainingLimits(TypedDict):
    """The remaining limits of a run."""

    iterations: int
    costUsd: float | None


class ArbiterInput(TypedDict, total=False):
    """The input of the arbiter: the seed's five facts, its settings, what the run may still use, and its session.

    `isLastTry` says that another failure ends the run, `isDefault` that its model is that of the run.
    """

    task: str
    plan: TaskPlan | None
    history: list[ExecutionEntry]
    lastError: RunError | None
    agents: dict[str, AgentConfig]
    lastExecution: ExecutionEntry | None
    arbiter: Json
    defaultAgent: str | None
    limits: RemainingLimits
    session: SessionInput
    isLastTry: bool
    isDefault: bool


class AgentInput(TypedDict):
    """The input of one agent of a crew."""

    agent: AgentConfig
    step: int | None
    turnId: str
    model: str | None
    messages: list[MessageJson]
    tools: list[ToolJson]
    consent: ConsentSettings
    options: Json
    budgetUsd: float | None
    maxTurns: int
    models: NotRequired[list[str]]
    session: NotRequired[ModelSession | None]
    sessionId: NotRequired[str]
    sessionName: NotRequired[str]


class CrewInput(TypedDict):
    """The input of a crew: the seed's five facts, the input of every agent, and the facts for their prompts."""

    agent: AgentConfig | None
    session: object
    task: str
    plan: TaskPlan | None
    messages: list[MessageJson]
    assignments: list[AgentInput]
    history: Sequence[ExecutionEntry]
    turnsBefore: int
    lastError: RunError | None
    guidance: list[str]


def arbiter_input(context: OrchestratorContext) -> ArbiterInput:
    """Return the input of the arbiter, with its session."""
    settings = context["arbiter"]
    model = settings.get("model") or context["model"]
    fallback = cast("list[str] | None", settings.get("fallback"))
    return {
        **arbiter_facts(context),
        "session": session_input(context, ARBITER, None if model is None else str(model), fallback),
        "isLastTry": context["consecutiveFailures"] + 1 >= context["maxFailures"],
        "isDefault": not settings.get("model"),
    }


def arbiter_facts(context: OrchestratorContext) -> ArbiterInput:
    """Return what the arbiter decides by."""
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
        "limits": {"iterations": iterations, "costUsd": remaining_cost(context)},
    }


def crew_input(context: OrchestratorContext) -> CrewInput:
    """Return the input of the crew, with its agents in the order of the plan."""
    # Iterations are counted from the start of each task, so ids of requests need the run too.
    input = crew_input_for(context, f"{context['runId'] or 'run'}-{context['iterationCount']}-")
    for assignment in input["assignments"]:
        add_session(context, assignment)
    return input


def add_session(context: OrchestratorContext, assignment: AgentInput) -> None:
    """Add the session of an agent to its input; agents that work side by side have one for each step."""
    agent = assignment["agent"]
    step = assignment["step"]
    name = agent["name"] if len(context["crew"]) == 1 else f"{agent['name']} (step {step})"
    facts = session_input(context, name, assignment["model"], agent.get("fallback"))
    assignment.update(cast(AgentInput, facts))
    session = facts["session"]
    if session is not None:
        assignment["model"] = session["model"]


def crew_input_for(context: OrchestratorContext, turn_id: str) -> CrewInput:
    """Return the input of the crew; `turn_id` begins the ids of its requests."""
    share = share_of_budget(context, len(context["crew"]))
    history = recent(context["history"])
    return {
        "agent": context["currentAgent"],
        "session": context["session"],
        "task": context["task"],
        "plan": context["plan"],
        "messages": context["messages"],
        "assignments": [_agent_input(context, item, share, turn_id) for item in context["crew"]],
        "history": history,
        "turnsBefore": len(context["history"]) - len(history),
        "lastError": context["lastError"],
        "guidance": context["guidance"],
    }


def _agent_input(context: OrchestratorContext, assignment: Assignment, share: float | None, turn_id: str) -> AgentInput:
    name = assignment["mode"]
    agent = context["agents"][name]
    limits = agent.get("limits") or {}
    budgets = [budget for budget in (share, limits.get("maxCostUsd")) if budget is not None]
    options = dict(context["options"])
    if "temperature" in agent:
        options["temperature"] = agent["temperature"]
    if "maxTokens" in limits:
        options["maxTokens"] = limits["maxTokens"]
    conversation = context["conversations"].get(name, []) if len(context["crew"]) == 1 else []
    return {
        "agent": agent,
        "step": assignment.get("step"),
        "turnId": turn_id,
        "model": agent.get("model") or context["model"],
        "messages": recent_messages(conversation),
        "tools": tools_for(agent, context["tools"]),
        "consent": context["consent"],
        "options": options,
        "budgetUsd": min(budgets) if budgets else None,
        "maxTurns": limits.get("maxIterations", MAX_ITERATIONS),
    }


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
    """Keep the conversations, plan, cost and outcome of agents; a success clears the last error, a failure counts."""
    results = results_of(event, context["currentMode"])
    plan = context["plan"]
    conversations = context["conversations"]
    consent = context["consent"]
    successes: list[AgentResult] = []
    total: float = 0
    for result in results:
        agent = str(result.get("agent"))
        plan = _plan_after(context, plan, result)
        messages = result.get("messages")
        if messages:
            conversations = {**conversations, agent: recent_messages(list(messages))}
        consent = _consent_after(consent, result)
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


def _plan_after(context: OrchestratorContext, plan: TaskPlan | None, result: AgentResult) -> TaskPlan | None:
    plan = plan_of(result.get("planUpdates"), plan)
    if plan is None:
        return None
    step = completed_step(context, plan, result)
    if step is not None:
        return with_step(plan, step, "complete", str(result.get("agent")))
    step = result.get("step")
    if step is not None and not result.get("success"):
        return with_step(plan, step, "failed", str(result.get("agent")))
    return plan


def _consent_after(consent: ConsentSettings, result: AgentResult) -> ConsentSettings:
    overrides = consent.get("overrides", [])
    new = [override for override in result.get("overrides") or () if override not in overrides]
    return {**consent, "overrides": [*overrides, *new]} if new else consent


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
