"""What the orchestrator knows: the task, who works, the plan, what was done, and what limits it."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, cast

from antiphon.agents.machine.agent_config import AgentConfig, agents_of
from antiphon.agents.machine.decisions import MAPPING, Assignment
from antiphon.agents.machine.plan import Plan, plan_of
from antiphon.agents.machine.results import ExecutionEntry, Failure
from antiphon.threads.machine.charts import load_chart

CHART = load_chart("antiphon.agents.machine.orchestrator")
# What a task changes; everything else is a setting, and stays through RESET.
OF_A_TASK = (
    "task", "startedAt", "currentAgent", "currentMode", "plan", "history", "messages", "consecutiveFailures",
    "totalFailures", "lastError", "lastArbiterDecision", "iterationCount", "runId", "crew", "conversations",
    "forcedAgent", "guidance", "executionStartedAt", "executionCostUsd", "toolsRunning", "waiting", "lostAgents",
    "lostIn", "cancelling", "atWork", "now", "costUsd", "usage", "summary", "reason",
)  # fmt: skip
MOST_MESSAGES = 60
NUMBER = (int, float)


class OrchestratorContext(TypedDict):
    """The context of the machine `rawko`; the first sixteen keys are the seed's."""

    task: str
    startedAt: float | None
    currentAgent: AgentConfig | None
    currentMode: str
    agents: dict[str, AgentConfig]
    plan: Plan | None
    history: list[ExecutionEntry]
    messages: list[dict[str, Any]]
    consecutiveFailures: int
    totalFailures: int
    lastError: Failure | None
    session: Any
    providerName: str
    lastArbiterDecision: dict[str, Any] | None
    maxIterations: int
    iterationCount: int
    maxFailures: int
    maxCostUsd: float | None
    maxWallMs: float | None
    backoffMs: float
    longestBackoffMs: float
    graceMs: float
    model: str | None
    arbiter: dict[str, Any]
    tools: list[dict[str, Any]]
    consent: dict[str, Any]
    options: dict[str, Any]
    defaultAgent: str | None
    dryRun: bool
    threadId: str | None
    runId: str | None
    reportsToParent: bool
    crew: list[Assignment]
    conversations: dict[str, list[dict[str, Any]]]
    forcedAgent: str | None
    guidance: list[str]
    executionStartedAt: float | None
    executionCostUsd: float
    toolsRunning: int
    waiting: list[dict[str, Any]]
    lostAgents: list[str]
    lostIn: str | None
    cancelling: bool
    atWork: bool
    now: float | None
    costUsd: float
    usage: dict[str, int]
    summary: str
    reason: str | None


class Output(TypedDict):
    """How a run ended."""

    success: bool
    reason: str
    summary: str
    plan: Plan | None
    history: list[ExecutionEntry]
    iterations: int
    failures: int
    costUsd: float
    usage: dict[str, int]
    durationMs: float | None
    error: NotRequired[Failure]


def first_context(input: Mapping[str, Any] | None = None) -> OrchestratorContext:
    """The context from input over defaults; a value that is null in the input is the default."""
    given = {key: value for key, value in (input or {}).items() if value is not None}
    known = {key: given.get(key, first) for key, first in CHART["context"].items()}
    settled = {"agents": agents_of(known["agents"]), "plan": plan_of(known["plan"])}
    return cast(OrchestratorContext, {**known, **settled})


def fresh_task() -> dict[str, Any]:
    """What a context says of a task that has not begun."""
    return {key: value for key, value in CHART["context"].items() if key in OF_A_TASK}


def bounded(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The latest messages of a conversation, from a question on, so that every tool result has its call."""
    if len(messages) <= MOST_MESSAGES:
        return messages
    recent = messages[-MOST_MESSAGES:]
    first = next((place for place, message in enumerate(recent) if message["role"] == "user"), len(recent))
    return recent[first:]


def now_of(context: OrchestratorContext, event: Mapping[str, Any]) -> float | None:
    """The latest time that is known: events bring it, the machine has no clock."""
    output, latest, at = event.get("output"), context["now"], event.get("at")
    inner = output.get("at") if isinstance(output, MAPPING) else None
    if at is None and inner is None:
        return latest
    for time in (at, inner):
        if isinstance(time, NUMBER) and (latest is None or time > latest):
            latest = time
    return latest
