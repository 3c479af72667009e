"""The context of a debate and its types: configuration, responses, costs and verdict."""

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict, cast

from antiphon.chart.text import GrowingText
from antiphon.threads.machine.content import UsageJson

State = Literal[
    "idle", "initializing", "awaitingArguments", "debating", "judgeEvaluating", "completed", "paused", "error"
]
Format = Literal["oxford", "lincoln-douglas", "roundtable"]
Position = Literal["for", "against", "neutral"]
Phase = Literal["opening", "rebuttal", "closing"]
Outcome = Literal["verdict", "stopped", "abandoned", "cost_limit"]
ErrorType = Literal["model_error", "timeout", "cost_limit", "validation", "network"]
Target = Literal["awaitingArguments", "debating", "judgeEvaluating"]
Driver = Literal["actors", "events"]
Json = dict[str, object]


class LLMModel(TypedDict):
    """A model by reference; its key stays in the environment."""

    provider: str
    modelId: str
    temperature: float | None
    maxTokens: int


class Participant(TypedDict):
    """A debater."""

    id: str
    name: str
    model: LLMModel
    position: Position
    systemPrompt: str
    color: str


class Judge(TypedDict):
    """The judge, and the criteria of the verdict."""

    id: str
    name: str
    model: LLMModel
    evaluationCriteria: list[str]


class DebateConfig(TypedDict):
    """The configuration of a debate; times in seconds, costs in USD. The debaters may be named later."""

    id: str
    topic: str
    format: Format
    maxRounds: int
    timeoutPerRound: float
    costLimit: float | None
    warnAtCost: float | None
    onCostLimit: Literal["error", "judge"]
    earlyStop: bool
    contextLimit: int
    participants: list[Participant]
    judge: Judge | None


class ModelPrice(TypedDict):
    """The prices of a million tokens, in USD, as decimal texts."""

    input: str
    output: str
    cachedRead: NotRequired[str]
    cachedWrite: NotRequired[str]


class ResponseError(TypedDict, total=False):
    """The error instead of a response."""

    code: str
    message: str
    recoverable: bool


class Response(TypedDict):
    """A debater's response in a round, or its failure."""

    participantId: str
    content: str
    tokensUsed: int
    latencyMs: float
    timestamp: float | None
    usage: UsageJson
    cost: str
    failed: NotRequired[bool]
    error: NotRequired[ResponseError]


class Contradiction(TypedDict):
    """Two sentences of one debater of which only one has a negation."""

    participantId: str
    earlier: str
    now: str


class Quality(TypedDict):
    """The signals of a round, from 0 to 10; `loops` has the debaters that repeat themselves."""

    novelty: float
    repetition: float
    convergence: float
    loops: list[str]
    contradictions: list[Contradiction]
    health: float


class Round(TypedDict):
    """A round, identified by its phase and number."""

    phase: Phase
    roundNumber: int
    timestamp: float | None
    responses: list[Response]
    tokensUsed: int
    costThisRound: str
    quality: Quality
    partial: NotRequired[bool]


class Stream(TypedDict):
    """A reply in progress."""

    requestId: str | None
    model: str
    text: str | GrowingText
    estimate: str
    started: bool


class CostWarning(TypedDict):
    """A warning, given once for each threshold."""

    threshold: str
    currentCost: str
    timestamp: float | None
    acknowledged: bool


class UnseenCost(TypedDict):
    """Calls whose usage is unknown, and what they may have cost."""

    calls: int
    cost: str


class CostTracker(TypedDict):
    """The costs of a debate: exact amounts in USD, as decimal texts."""

    totalCost: str
    costByModel: dict[str, str]
    warningThreshold: str | None
    limitThreshold: str | None
    warnings: list[CostWarning]
    overshoot: str
    # Lost and interrupted calls: their possible cost is not part of the total.
    unseen: UnseenCost
    unpriced: int


class ModelTokenUsage(TypedDict):
    """The usage of one model; cached tokens are part of the input."""

    inputTokens: int
    outputTokens: int
    cachedReadTokens: int
    cachedWriteTokens: int
    totalCost: str
    requestCount: int
    estimated: bool


class JudgeVerdict(TypedDict):
    """The verdict of the judge; scores go from 0 to 100."""

    winner: str | None
    tie: bool
    scores: dict[str, float]
    criteria: Json
    reasoning: str
    references: list[Json]
    tokensUsed: int
    timestamp: float | None


class DebateError(TypedDict):
    """An error of a debate."""

    type: ErrorType
    message: str
    retryable: bool
    timestamp: float | None
    participantId: NotRequired[str]
    field: NotRequired[str]
    code: NotRequired[str]
    estimate: NotRequired[str]


class Interjection(TypedDict):
    """A message of the audience, and when it came."""

    text: str
    phase: Phase
    roundNumber: int
    at: float | None


class DebateContext(TypedDict):
    """The context of a debate; `config` is empty until the debate is configured."""

    config: DebateConfig
    given: Json
    participants: list[Participant]
    judge: Judge | None
    prices: dict[str, ModelPrice | None]
    phase: Phase
    currentRound: int
    maxRounds: int
    rounds: list[Round]
    responses: list[Response]
    attempts: dict[str, int]
    activeStreams: dict[str, Stream]
    requests: int
    interjections: list[Interjection]
    costTracker: CostTracker
    tokenUsage: dict[str, ModelTokenUsage]
    verdict: JudgeVerdict | None
    lastError: DebateError | None
    lost: bool
    retryCount: int
    resumeTarget: Target | None
    outcome: Outcome | None
    stoppedEarly: str | None
    startedAt: float | None
    lastAt: float | None
    runId: str | None
    threadId: str | None
    reportsToParent: bool
    driver: Driver


class DebateUpdate(TypedDict, total=False):
    """Some keys of the context: what an action changes."""

    config: DebateConfig
    given: Json
    participants: list[Participant]
    judge: Judge | None
    prices: dict[str, ModelPrice | None]
    phase: Phase
    currentRound: int
    maxRounds: int
    rounds: list[Round]
    responses: list[Response]
    attempts: dict[str, int]
    activeStreams: dict[str, Stream]
    requests: int
    interjections: list[Interjection]
    costTracker: CostTracker
    tokenUsage: dict[str, ModelTokenUsage]
    verdict: JudgeVerdict | None
    lastError: DebateError | None
    lost: bool
    retryCount: int
    resumeTarget: Target | None
    outcome: Outcome | None
    stoppedEarly: str | None
    startedAt: float | None
    lastAt: float | None
    runId: str | None
    threadId: str | None
    reportsToParent: bool
    driver: Driver


NO_COSTS: CostTracker = {
    "totalCost": "0",
    "costByModel": {},
    "warningThreshold": None,
    "limitThreshold": None,
    "warnings": [],
    "overshoot": "0",
    "unseen": {"calls": 0, "cost": "0"},
    "unpriced": 0,
}
NO_CONFIG = cast(DebateConfig, {})
NOT_CONFIG = ("threadId", "reportsToParent", "driver", "onBusy")


class DebateInput(TypedDict, total=False):
    """The keys of the input that are not configuration."""

    threadId: str | None
    reportsToParent: bool
    driver: Driver


def first_context(input: Mapping[str, object] | None = None) -> DebateContext:
    """Create the context of a debate that has not begun, from its configuration and its host's settings."""
    settings = dict(input or {})
    host = cast(DebateInput, settings)
    return {
        "config": NO_CONFIG.copy(),
        "given": {key: value for key, value in settings.items() if key not in NOT_CONFIG},
        "participants": [],
        "judge": None,
        "prices": {},
        "phase": "opening",
        "currentRound": 0,
        "maxRounds": 5,
        "rounds": [],
        "responses": [],
        "attempts": {},
        "activeStreams": {},
        "requests": 0,
        "interjections": [],
        "costTracker": NO_COSTS,
        "tokenUsage": {},
        "verdict": None,
        "lastError": None,
        "lost": False,
        "retryCount": 0,
        "resumeTarget": None,
        "outcome": None,
        "stoppedEarly": None,
        "startedAt": None,
        "lastAt": None,
        "runId": None,
        "threadId": host.get("threadId"),
        "reportsToParent": bool(host.get("reportsToParent")),
        "driver": host.get("driver", "actors"),
    }
