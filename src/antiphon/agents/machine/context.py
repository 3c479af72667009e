"""The context of the orchestrator: task, agents, plan, history and limits."""

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict, cast

from antiphon.agents.machine.agent_config import AgentConfig, ToolJson, agents_of
from antiphon.agents.machine.decisions import MAPPING, Assignment, PartialDecision
from antiphon.agents.machine.plan import TaskPlan, plan_of
from antiphon.agents.machine.results import NUMBER, ExecutionEntry, Json, ModelSession, RunError, Usage
from antiphon.chart.actions import Enqueue
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.content import MessageJson
from antiphon.threads.machine.permission_rules import ConsentSettings
from antiphon.threads.machine.scopes import Override

CHART = load_chart("antiphon.agents.machine.orchestrator")
DEFAULTS: dict[str, object] = CHART["context"]
# The keys that a task changes; all others are settings, and stay through RESET.
TASK_KEYS = (
    "task", "startedAt", "currentAgent", "currentMode", "plan", "history", "messages", "consecutiveFailures",
    "totalFailures", "lastError", "lastArbiterDecision", "iterationCount", "runId", "crew", "conversations",
    "forcedAgent", "guidance", "heard", "revoked", "executionStartedAt", "executionCostUsd", "toolsRunning", "waiting",
    "lostAgents", "lostIn", "cancelling", "atWork", "now", "costUsd", "usage", "summary", "reason", "denied", "log",
)  # fmt: skip
MOST_MESSAGES = 60
CREW = "executeAgent"  # the actor of the agents at work


class Question(TypedDict):
    """An agent that waits for a person: for permission, or for an answer; `address` is a path from the run."""

    agentId: NotRequired[str]
    reason: str
    id: NotRequired[str]
    address: NotRequired[str]
    callId: NotRequired[str]
    question: NotRequired[str]
    options: NotRequired[object]
    calls: NotRequired[object]
    timeoutMs: NotRequired[object]


class LogLine(TypedDict):
    """A line for people, as the record of a run keeps it."""

    at: float | None
    severity: Literal["info", "warning", "error"]
    text: str


class OrchestratorContext(TypedDict):
    """The context of the machine `rawko`; the first sixteen keys are the seed's."""

    task: str
    startedAt: float | None
    currentAgent: AgentConfig | None
    currentMode: str
    agents: dict[str, AgentConfig]
    plan: TaskPlan | None
    history: list[ExecutionEntry]
    messages: list[MessageJson]
    consecutiveFailures: int
    totalFailures: int
    lastError: RunError | None
    session: object
    providerName: str
    lastArbiterDecision: PartialDecision | None
    maxIterations: int
    iterationCount: int
    maxFailures: int
    maxCostUsd: float | None
    maxWallMs: float | None
    backoffMs: float
    longestBackoffMs: float
    graceMs: float
    model: str | None
    fallback: list[str]
    arbiter: Json
    tools: list[ToolJson]
    consent: ConsentSettings
    options: Json
    defaultAgent: str | None
    dryRun: bool
    threadId: str | None
    runId: str | None
    reportsToParent: bool
    crew: list[Assignment]
    conversations: dict[str, list[MessageJson]]
    forcedAgent: str | None
    guidance: list[str]
    # How many of these words the turn at work has in its prompt, and the permissions that were taken back in it.
    heard: int
    revoked: list[Override]
    executionStartedAt: float | None
    executionCostUsd: float
    toolsRunning: int
    waiting: list[Question]
    lostAgents: list[str | None]
    lostIn: str | None
    cancelling: bool
    atWork: bool
    now: float | None
    costUsd: float
    usage: Usage
    summary: str
    reason: str | None
    sessions: dict[str, ModelSession]
    denied: list[str]
    log: list[LogLine]


class OrchestratorUpdate(TypedDict, total=False):
    """Some keys of the context: what an action changes."""

    task: str
    startedAt: float | None
    currentAgent: AgentConfig | None
    currentMode: str
    agents: dict[str, AgentConfig]
    plan: TaskPlan | None
    history: list[ExecutionEntry]
    messages: list[MessageJson]
    consecutiveFailures: int
    totalFailures: int
    lastError: RunError | None
    session: object
    providerName: str
    lastArbiterDecision: PartialDecision | None
    maxIterations: int
    iterationCount: int
    maxFailures: int
    maxCostUsd: float | None
    maxWallMs: float | None
    backoffMs: float
    longestBackoffMs: float
    graceMs: float
    model: str | None
    fallback: list[str]
    arbiter: Json
    tools: list[ToolJson]
    consent: ConsentSettings
    options: Json
    defaultAgent: str | None
    dryRun: bool
    threadId: str | None
    runId: str | None
    reportsToParent: bool
    crew: list[Assignment]
    conversations: dict[str, list[MessageJson]]
    forcedAgent: str | None
    guidance: list[str]
    heard: int
    revoked: list[Override]
    executionStartedAt: float | None
    executionCostUsd: float
    toolsRunning: int
    waiting: list[Question]
    lostAgents: list[str | None]
    lostIn: str | None
    cancelling: bool
    atWork: bool
    now: float | None
    costUsd: float
    usage: Usage
    summary: str
    reason: str | None
    sessions: dict[str, ModelSession]
    denied: list[str]
    log: list[LogLine]


OrchestratorEnqueue = Enqueue[OrchestratorContext, dict[str, object]]


class Output(TypedDict):
    """The result of a run."""

    success: bool
    reason: str
    summary: str
    plan: TaskPlan | None
    history: list[ExecutionEntry]
    iterations: int
    failures: int
    costUsd: float
    usage: Usage
    durationMs: float | None
    error: NotRequired[RunError]
    log: NotRequired[list[LogLine]]


def first_context(input: Mapping[str, object] | None = None) -> OrchestratorContext:
    """Create the context from input and defaults; None in the input means the default."""
    settings = {key: value for key, value in (input or {}).items() if value is not None}
    context = {key: settings.get(key, default) for key, default in DEFAULTS.items()}
    return cast(
        OrchestratorContext,
        {**context, "agents": agents_of(context["agents"]), "plan": plan_of(context["plan"])},
    )


def fresh_task(context: OrchestratorContext) -> OrchestratorUpdate:
    """Return the keys of a task with their first values; a context of version 1 has fewer."""
    return cast(
        OrchestratorUpdate, {key: value for key, value in DEFAULTS.items() if key in TASK_KEYS and key in context}
    )


def recent_messages(messages: list[MessageJson]) -> list[MessageJson]:
    """Return the latest messages of a conversation, from a user's on, so that every tool result has its call."""
    if len(messages) <= MOST_MESSAGES:
        return messages
    recent = messages[-MOST_MESSAGES:]
    first = next((index for index, message in enumerate(recent) if message["role"] == "user"), len(recent))
    return recent[first:]


def now_of(context: OrchestratorContext, event: Mapping[str, object]) -> float | None:
    """Return the latest known time: events bring it, the machine has no clock."""
    latest = context["now"]
    at = event.get("at")
    output = event.get("output")
    inner: object = output.get("at") if isinstance(output, MAPPING) else None
    if at is None and inner is None:
        return latest
    for time in (at, inner):
        if isinstance(time, NUMBER) and (latest is None or time > latest):
            latest = time
    return latest
