"""The types of the debate machine: what is configured, said, paid and decided."""

from typing import Any, Literal, NotRequired, TypedDict

from antiphon.chart.text import Text

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
Json = dict[str, Any]


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
    """Who decides, and by what."""

    id: str
    name: str
    model: LLMModel
    evaluationCriteria: list[str]


class DebateConfig(TypedDict):
    """What a debate is about, and its limits; times in seconds, costs in USD."""

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
    judge: Judge


class Response(TypedDict):
    """What a debater said in a round, or that nothing came."""

    participantId: str
    content: str
    tokensUsed: int
    latencyMs: float
    timestamp: float | None
    usage: Json
    cost: str
    failed: NotRequired[bool]
    error: NotRequired[Json]


class Round(TypedDict):
    """A round, known by its phase and number."""

    phase: Phase
    roundNumber: int
    timestamp: float | None
    responses: list[Response]
    tokensUsed: int
    costThisRound: str
    quality: Json
    partial: NotRequired[bool]


class Stream(TypedDict):
    """A reply that is on its way."""

    requestId: str | None
    model: str
    text: str | Text
    estimate: str
    started: bool


class CostWarning(TypedDict):
    """Said once for each threshold that is crossed."""

    threshold: str
    currentCost: str
    timestamp: float | None
    acknowledged: bool


class CostTracker(TypedDict):
    """What was spent, exactly: amounts are decimal texts, in USD."""

    totalCost: str
    costByModel: dict[str, str]
    warningThreshold: str | None
    limitThreshold: str | None
    warnings: list[CostWarning]
    overshoot: str
    # Calls whose end nobody saw, and calls that were cut off: what they may have cost is not part of the total.
    unseen: Json
    unpriced: int


class ModelTokenUsage(TypedDict):
    """What one model used; cached tokens are part of the input."""

    inputTokens: int
    outputTokens: int
    cachedReadTokens: int
    cachedWriteTokens: int
    totalCost: str
    requestCount: int
    estimated: bool


class Verdict(TypedDict):
    """What the judge decided; scores go from 0 to 100."""

    winner: str | None
    tie: bool
    scores: dict[str, float]
    criteria: dict[str, Any]
    reasoning: str
    references: list[Json]
    tokensUsed: int
    timestamp: float | None


class DebateError(TypedDict):
    """What went wrong."""

    type: ErrorType
    message: str
    retryable: bool
    timestamp: float | None
    participantId: NotRequired[str]
    field: NotRequired[str]
    code: NotRequired[str]


class DebateContext(TypedDict):
    """What a debate knows."""

    config: Json
    given: Json
    participants: list[Participant]
    judge: Judge | None
    prices: dict[str, Json | None]
    phase: Phase
    currentRound: int
    maxRounds: int
    rounds: list[Round]
    responses: list[Response]
    attempts: dict[str, int]
    activeStreams: dict[str, Stream]
    requests: int
    interjections: list[Json]
    costTracker: CostTracker
    tokenUsage: dict[str, ModelTokenUsage]
    verdict: Verdict | None
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
NOT_CONFIG = ("threadId", "reportsToParent", "driver", "onBusy")


def first_context(input: Json | None = None) -> DebateContext:
    """The context of a debate that has not begun; the input may have its config, and who to report to."""
    given = dict(input or {})
    return {
        "config": {},
        "given": {key: value for key, value in given.items() if key not in NOT_CONFIG},
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
        "threadId": given.get("threadId"),
        "reportsToParent": bool(given.get("reportsToParent")),
        "driver": given.get("driver", "actors"),
    }
