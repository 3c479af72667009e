"""Inputs of the arbiter and of the crew: facts, sessions and limits."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict, cast

from antiphon.agents.machine.agent_config import MAX_ITERATIONS, AgentConfig, ToolJson, tools_for
from antiphon.agents.machine.briefs import recent
from antiphon.agents.machine.context import OrchestratorContext, recent_messages
from antiphon.agents.machine.decisions import Assignment
from antiphon.agents.machine.limits import remaining_cost, share_of_budget
from antiphon.agents.machine.plan import TaskPlan
from antiphon.agents.machine.results import ExecutionEntry, Json, ModelSession, RunError
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
