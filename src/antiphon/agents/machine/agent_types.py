"""Types of an agent's turn: its context, and its events by what its functions read in them."""

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict

from antiphon.agents.machine.agent_config import AgentConfig, ToolJson
from antiphon.agents.machine.results import Fallback, Json, ModelSession, RunError, Usage
from antiphon.threads.machine.content import MessageJson, ResultPart
from antiphon.threads.machine.permission_rules import CallRequest, ConsentSettings, JudgedCall
from antiphon.threads.machine.scopes import Override
from antiphon.threads.machine.streaming_types import ReplyReport
from antiphon.threads.machine.tools_types import RequestClosed, Revoke, Wait


class AskedQuestion(TypedDict):
    """A question of the model to a person, by the id of its tool call."""

    id: str
    question: str
    options: object


class AgentQuestion(TypedDict):
    """Request that an agent waits for: an answer of a person, or a permission.

    `address` is the path of the actor that takes the answer, from the crew; `callId` is the tool call of a question.
    """

    reason: Literal["question", "permission"]
    id: NotRequired[str]
    address: NotRequired[str]
    callId: NotRequired[str]
    question: NotRequired[str]
    options: NotRequired[object]
    calls: NotRequired[object]
    timeoutMs: NotRequired[object]


class RepeatedAsk(TypedDict):
    """Permission for the calls of a turn was asked for more than once, because processes were lost meanwhile."""

    turn: int
    times: int


class AgentContext(TypedDict):
    """The context of a turn."""

    agentId: str
    turnId: str
    agent: AgentConfig | None
    step: int | None
    model: str | None
    messages: list[MessageJson]
    options: Json
    tools: list[ToolJson]
    consent: ConsentSettings
    budgetUsd: float | None
    maxTurns: int
    turns: int
    fresh: int
    calls: list[CallRequest]
    results: dict[str, ResultPart]
    questions: list[AskedQuestion]
    waiting: AgentQuestion | None
    planUpdates: Json | None
    usage: Usage
    costUsd: float
    at: float | None
    reasked: bool
    cancelled: bool
    lost: bool
    error: RunError | None
    summary: str
    outcome: Literal["done", "failed", "exhausted"] | None
    models: list[str]
    tried: list[str]
    session: ModelSession | None
    sessionId: str
    sessionName: str
    fallbacks: list[Fallback]
    denied: list[str]
    changed: list[str]
    asks: NotRequired[RepeatedAsk | None]  # absent in turns that were stored before there was this key
    # The permissions that a person gave in this turn.
    granted: list[Override]


class AgentUpdate(TypedDict, total=False):
    """Some keys of the context: what an action changes."""

    agentId: str
    turnId: str
    agent: AgentConfig | None
    step: int | None
    model: str | None
    messages: list[MessageJson]
    options: Json
    tools: list[ToolJson]
    consent: ConsentSettings
    budgetUsd: float | None
    maxTurns: int
    turns: int
    fresh: int
    calls: list[CallRequest]
    results: dict[str, ResultPart]
    questions: list[AskedQuestion]
    waiting: AgentQuestion | None
    planUpdates: Json | None
    usage: Usage
    costUsd: float
    at: float | None
    reasked: bool
    cancelled: bool
    lost: bool
    error: RunError | None
    summary: str
    outcome: Literal["done", "failed", "exhausted"] | None
    models: list[str]
    tried: list[str]
    session: ModelSession | None
    sessionId: str
    sessionName: str
    fallbacks: list[Fallback]
    denied: list[str]
    changed: list[str]
    asks: RepeatedAsk | None
    granted: list[Override]


class ReplyInput(TypedDict):
    """The input of the actor `reply`."""

    requestId: str
    model: str | None
    prompt: None
    messages: list[MessageJson]
    options: Json
    budgetUsd: float | None
    reportsToParent: bool
    sessionId: NotRequired[str | None]


class ChildFailed(TypedDict):
    """The reply or the tools have failed."""

    type: str
    error: NotRequired[object]
    costUsd: NotRequired[float | None]
    usage: NotRequired[Mapping[str, object] | None]


class ToolPermission(TypedDict):
    """The decision of a person about calls."""

    decision: str
    scope: str
    calls: list[JudgedCall]
    id: NotRequired[str]
    reason: NotRequired[str | None]


class AgentToolsOutput(TypedDict):
    """The output of the actor `tools`."""

    results: list[ResultPart]
    permission: NotRequired[ToolPermission | None]
    overrides: NotRequired[list[Override]]
    lost: NotRequired[bool]


class ToolsDone(TypedDict):
    """The calls of a reply have results."""

    type: str
    output: AgentToolsOutput


class AnswerGiven(TypedDict):
    """A person answers the question of an agent, by the id of the request."""

    type: Literal["ANSWER"]
    id: str
    text: str
    at: NotRequired[float | None]


class AgentCommand(TypedDict):
    """Continue after the loss of a process, or end early; for one agent, or for all without an `agentId`."""

    type: Literal["CANCEL", "RESUME"]
    agentId: NotRequired[str | None]


TurnEvent = ReplyReport | Wait | RequestClosed | AnswerGiven | AgentCommand | Revoke


class PlainEvent(TypedDict):
    """An event of which only the type matters."""

    type: str
