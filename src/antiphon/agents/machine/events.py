"""The events of a run: requests of people, and reports of the arbiter and of agents, or of a driver in their place."""

from typing import Literal, NotRequired, TypedDict

from antiphon.agents.machine.decisions import ArbiterDecision
from antiphon.agents.machine.results import Fallback, GivenResult, Json, ModelSession
from antiphon.threads.machine.content import ErrorJson, PartJson, RunFields, UsageJson
from antiphon.threads.machine.tools_types import Revoke

PUBLIC = (
    "START_TASK", "FORCE_AGENT", "SKIP_STEP", "RETRY", "CANCEL", "RESET", "REVOKE", "message", "cancel", "resume",
    "retry",
)  # fmt: skip
"""Events that may come from outside; a program that drives a run by hand provides `public=["*"]`."""


class StartTask(RunFields):
    """Start a task, possibly with an agent or with a plan."""

    type: Literal["START_TASK"]
    task: str
    agentName: NotRequired[str | None]
    plan: NotRequired[Json | None]
    at: NotRequired[float | None]


class ForceAgent(TypedDict):
    """Let an agent work now."""

    type: Literal["FORCE_AGENT"]
    agentName: str
    task: NotRequired[str | None]
    at: NotRequired[float | None]


class TaskMessage(RunFields):
    """Words of a person: the task of a run that has none, else guidance."""

    type: Literal["message"]
    text: NotRequired[str | None]
    parts: NotRequired[list[PartJson] | None]
    agentName: NotRequired[str | None]
    plan: NotRequired[Json | None]
    at: NotRequired[float | None]


class RunCommand(RunFields):
    """A command of a person or of the thread, possibly for another run of the thread; or a time limit."""

    type: Literal["CANCEL", "cancel", "RESET", "RETRY", "retry", "resume", "SKIP_STEP", "WALL_TIME", "GRACE_OVER"]
    at: NotRequired[float | None]


class AgentSelected(TypedDict):
    """An arbiter has selected an agent."""

    type: Literal["AGENT_SELECTED"]
    agentName: NotRequired[str | None]
    agent: NotRequired[str | Json | None]
    decision: NotRequired[ArbiterDecision | None]
    at: NotRequired[float | None]


class ArbiterDecided(TypedDict):
    """An arbiter has decided how the run continues."""

    type: Literal["ARBITER_DECISION"]
    decision: ArbiterDecision
    at: NotRequired[float | None]


class RunFailed(TypedDict):
    """An arbiter or an agent has failed."""

    type: Literal["AGENT_SELECTION_FAILED", "ARBITER_ERROR", "AGENT_ERROR"]
    error: NotRequired[ErrorJson | str | None]
    at: NotRequired[float | None]


class AgentCompleted(TypedDict):
    """The agents have ended their turn."""

    type: Literal["AGENT_COMPLETE"]
    result: NotRequired[GivenResult | str | None]
    at: NotRequired[float | None]


class SpokenMessage(TypedDict):
    """The text of a reply."""

    role: NotRequired[str]
    content: NotRequired[str]


class AgentSpoke(TypedDict):
    """A reply of an agent's model, and what it cost."""

    type: Literal["AGENT_MESSAGE"]
    agentId: NotRequired[str]
    message: SpokenMessage
    usage: NotRequired[UsageJson | None]
    costUsd: NotRequired[float | None]
    at: NotRequired[float | None]


class ToolCallNotice(TypedDict):
    """A tool call as agents report it."""

    id: str
    name: str
    arguments: NotRequired[object]


class AgentCalledTool(TypedDict):
    """An agent calls a tool."""

    type: Literal["AGENT_TOOL_CALL"]
    agentId: NotRequired[str]
    toolCall: ToolCallNotice
    at: NotRequired[float | None]


class AgentGotResult(TypedDict):
    """A tool of an agent has ended."""

    type: Literal["AGENT_TOOL_RESULT"]
    agentId: NotRequired[str]
    toolResult: NotRequired[Json]
    at: NotRequired[float | None]


class AgentChangedPlan(TypedDict):
    """An agent changes the plan during its turn."""

    type: Literal["AGENT_PLAN"]
    agentId: NotRequired[str]
    planUpdates: NotRequired[Json | None]
    at: NotRequired[float | None]


class AgentWaits(TypedDict):
    """An agent waits for a person."""

    type: Literal["AGENT_WAITS"]
    agentId: NotRequired[str]
    reason: str
    id: NotRequired[str | None]
    address: NotRequired[str]
    callId: NotRequired[str]
    question: NotRequired[str]
    options: NotRequired[object]
    calls: NotRequired[object]
    timeoutMs: NotRequired[object]


class AgentGoesOn(TypedDict):
    """The request of an agent is closed: it was answered, or it has expired."""

    type: Literal["AGENT_GOES_ON"]
    agentId: NotRequired[str]
    id: NotRequired[str | None]


class AgentLost(TypedDict):
    """The process of an agent was lost, or lacks a key; then the error says which."""

    type: Literal["AGENT_LOST"]
    agentId: NotRequired[str]
    error: NotRequired[ErrorJson]


class SessionOpened(TypedDict):
    """An agent, or the arbiter, asks a model for the first time."""

    type: Literal["AGENT_SESSION", "ARBITER_SESSION"]
    agentId: NotRequired[str]
    name: str
    session: ModelSession


class FellBack(TypedDict):
    """An agent, or the arbiter, asks another model, because its own has failed."""

    type: Literal["AGENT_FALLBACK", "ARBITER_FALLBACK"]
    agentId: NotRequired[str]
    name: str
    fallback: Fallback


class RulesDecided(TypedDict):
    """Rules decide in place of a model that cannot."""

    type: Literal["ARBITER_RULES"]
    reason: str


AgentReport = (
    AgentSpoke
    | AgentCalledTool
    | AgentGotResult
    | AgentChangedPlan
    | AgentWaits
    | AgentGoesOn
    | AgentLost
    | SessionOpened
    | FellBack
)
OrchestratorEvent = (
    StartTask
    | ForceAgent
    | TaskMessage
    | RunCommand
    | AgentSelected
    | ArbiterDecided
    | RunFailed
    | AgentCompleted
    | AgentReport
    | RulesDecided
    | Revoke
)


class TaskFields(RunFields, total=False):
    """The fields of START_TASK, FORCE_AGENT and `message`: words of a person, an agent and a plan."""

    type: str
    task: str | None
    text: str | None
    parts: list[PartJson] | None
    agentName: str | None
    plan: Json | None
    at: float | None


class SelectionFields(TypedDict):
    """The fields of events that may select an agent: by a person, by an arbiter's decision, or given whole."""

    type: str
    agentName: NotRequired[str | None]
    agent: NotRequired[object]
    decision: NotRequired[object]
    output: NotRequired[object]
    at: NotRequired[object]


class ExecutionFields(TypedDict):
    """The fields of events that may end the work of a crew: with a result, with an error, or by cutting it short."""

    type: str
    result: NotRequired[object]
    output: NotRequired[object]
    error: NotRequired[object]
    at: NotRequired[object]


class ErrorFields(TypedDict):
    """The fields of events that bring an error."""

    type: str
    actorId: NotRequired[str | None]
    error: NotRequired[object]


class AgentFields(TypedDict):
    """The fields of events of one agent of the crew."""

    type: str
    agentId: NotRequired[str]
