"""The events of the orchestrator, by what its functions read in them."""

from typing import NotRequired, TypedDict

from antiphon.agents.machine.results import Json, PartJson


class TaskEvent(TypedDict):
    """START_TASK, FORCE_AGENT, `message` and `answer`: words of a person, and possibly an agent and a plan."""

    type: str
    task: NotRequired[str | None]
    text: NotRequired[str | None]
    parts: NotRequired[list[PartJson] | None]
    agentName: NotRequired[str | None]
    plan: NotRequired[Json | None]
    at: NotRequired[float | None]
    runId: NotRequired[str | None]
    agentId: NotRequired[str | None]


class SelectionEvent(TypedDict):
    """An event that may select an agent: by a person, by an arbiter's decision, or given whole."""

    type: str
    agentName: NotRequired[str | None]
    agent: NotRequired[object]
    decision: NotRequired[object]
    output: NotRequired[object]
    at: NotRequired[object]


class ExecutionEvent(TypedDict):
    """An event that may end the work of a crew: with a result, with an error, or by cutting it short."""

    type: str
    result: NotRequired[object]
    output: NotRequired[object]
    error: NotRequired[object]
    at: NotRequired[object]


class ErrorEvent(TypedDict):
    """An event that brings an error."""

    type: str
    actorId: NotRequired[str | None]
    error: NotRequired[object]


class ForceAgent(TypedDict):
    """A person selects an agent."""

    type: str
    agentName: str


class AgentEvent(TypedDict):
    """An event of one agent of the crew."""

    type: str
    agentId: NotRequired[str]


class AgentSpoke(TypedDict):
    """AGENT_MESSAGE: a reply of an agent's model, and what it cost."""

    type: str
    agentId: NotRequired[str]
    message: "SpokenMessage"
    usage: NotRequired[Json | None]
    costUsd: NotRequired[float | None]
    at: NotRequired[object]
    output: NotRequired[object]


class SpokenMessage(TypedDict):
    """The text of a reply."""

    role: NotRequired[str]
    content: NotRequired[str]


class AgentCalledTool(TypedDict):
    """AGENT_TOOL_CALL: an agent calls a tool."""

    type: str
    agentId: NotRequired[str]
    toolCall: "ToolCallNotice"


class ToolCallNotice(TypedDict):
    """A tool call as agents report it."""

    id: str
    name: str
    arguments: object


class AgentChangedPlan(TypedDict):
    """AGENT_PLAN: an agent changes the plan during its turn."""

    type: str
    planUpdates: NotRequired[object]


class AgentWaits(TypedDict):
    """AGENT_WAITS: an agent waits for a person."""

    type: str
    agentId: NotRequired[str]
    reason: str
    id: NotRequired[str]
    question: NotRequired[str]
    options: NotRequired[object]
    calls: NotRequired[object]
    timeoutMs: NotRequired[object]


class RunCommand(TypedDict):
    """A command of a person or of the thread, possibly for another run of the thread."""

    type: str
    runId: NotRequired[str | None]
