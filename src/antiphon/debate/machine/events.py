"""The events of a debate: requests of people, and reports of its actors or of a driver in their place."""

from typing import Literal, NotRequired, TypedDict

from antiphon.debate.machine.context import (
    DebateError,
    ErrorType,
    Json,
    ModelPrice,
    ResponseError,
)
from antiphon.threads.machine.content import PartJson, RunFields, UsageJson
from antiphon.threads.machine.streaming_types import ReplyReport

PUBLIC = (
    "START_DEBATE", "PAUSE", "RESUME", "STOP", "RETRY", "JUDGE_NOW", "RAISE_LIMIT", "INTERJECT", "ACKNOWLEDGE_WARNING",
    "message", "answer", "cancel", "resume", "retry",
)  # fmt: skip
"""Events that may come from outside; a program that drives a debate by hand provides `public=["*"]`."""


class StartDebate(TypedDict):
    """Start the debate; debaters and judge may be in the configuration or beside it."""

    type: Literal["START_DEBATE"]
    config: NotRequired[Json | None]
    participants: NotRequired[list[Json] | None]
    judge: NotRequired[Json | None]
    at: NotRequired[float | None]


class InitComplete(TypedDict):
    """The models are ready; debaters and judge are checked like those of a configuration.

    `prices` has the price of a million tokens, by model.
    """

    type: Literal["INIT_COMPLETE"]
    participants: list[Json]
    judge: NotRequired[Json | None]
    prices: NotRequired[dict[str, ModelPrice | None] | None]
    at: NotRequired[float | None]


class OutsideResponse(TypedDict):
    """A response that came from outside."""

    participantId: str
    content: NotRequired[str | None]
    tokensUsed: NotRequired[int | None]
    latencyMs: NotRequired[float | None]
    timestamp: NotRequired[float | None]
    usage: NotRequired[UsageJson | None]
    cost: NotRequired[str]
    costUsd: NotRequired[float | None]
    failed: NotRequired[bool]
    error: NotRequired[ResponseError | None]


class OutsideRound(TypedDict, total=False):
    """A round that came from outside."""

    phase: str
    roundNumber: int
    responses: list[OutsideResponse] | None


class ArgumentsReady(TypedDict):
    """All openings are complete."""

    type: Literal["ARGUMENTS_READY"]
    responses: list[OutsideResponse]


class RoundComplete(TypedDict):
    """A round is over."""

    type: Literal["ROUND_COMPLETE"]
    round: OutsideRound


class GivenVerdict(TypedDict):
    """A verdict as the judge gives it; the winner is the debater with the highest score, whoever is named."""

    scores: dict[str, float]
    winner: NotRequired[str | None]
    criteria: NotRequired[Json]
    reasoning: NotRequired[str]
    references: NotRequired[list[Json]]
    tokensUsed: NotRequired[int]
    timestamp: NotRequired[float | None]
    usage: NotRequired[UsageJson | None]
    costUsd: NotRequired[float | None]
    at: NotRequired[float | None]


class VerdictReady(TypedDict):
    """The judge has decided."""

    type: Literal["VERDICT_READY"]
    verdict: GivenVerdict
    usage: NotRequired[UsageJson | None]
    tokensUsed: NotRequired[int]
    costUsd: NotRequired[float | None]
    at: NotRequired[float | None]


class GivenError(TypedDict):
    """An error from outside."""

    type: ErrorType
    message: str
    retryable: bool
    timestamp: NotRequired[float | None]
    participantId: NotRequired[str]
    field: NotRequired[str]
    code: NotRequired[str]
    estimate: NotRequired[str]


class ErrorReported(TypedDict):
    """An error ends the phase."""

    type: Literal["ERROR"]
    error: GivenError
    at: NotRequired[float | None]


class GivenWarning(TypedDict):
    """A warning about a threshold; amounts in USD."""

    threshold: float
    currentCost: float
    timestamp: NotRequired[float | None]
    acknowledged: NotRequired[bool]


class Warned(TypedDict):
    """A threshold of cost is crossed."""

    type: Literal["COST_WARNING"]
    warning: GivenWarning


class OverLimit(TypedDict):
    """The next call might break the limit."""

    type: Literal["COST_LIMIT"]
    participantId: NotRequired[str | None]
    estimate: NotRequired[str | None]


class Streamed(TypedDict):
    """More text of a response that is streamed from outside."""

    type: Literal["STREAM_CHUNK"]
    participantId: str
    chunk: str


class StreamEnded(TypedDict):
    """A response that is streamed from outside is complete."""

    type: Literal["STREAM_COMPLETE"]
    participantId: str
    content: NotRequired[str | None]
    tokensUsed: NotRequired[int | None]
    latencyMs: NotRequired[float | None]
    usage: NotRequired[UsageJson | None]
    costUsd: NotRequired[float | None]
    at: NotRequired[float | None]


class Late(TypedDict):
    """A debater took too long for an opening."""

    type: Literal["DEBATER_TIMEOUT"]
    participantId: str


class RaiseLimit(TypedDict):
    """Raise the cost limit."""

    type: Literal["RAISE_LIMIT"]
    costLimit: float
    at: NotRequired[float | None]


class LimitAnswer(RunFields):
    """The answer of a person to a debate at its limit: a new limit."""

    type: Literal["answer"]
    costLimit: NotRequired[float | None]
    text: NotRequired[str | None]
    at: NotRequired[float | None]


class Said(RunFields):
    """A message of a person: the topic first, later an interjection."""

    type: Literal["INTERJECT", "message"]
    text: NotRequired[str | None]
    parts: NotRequired[list[PartJson] | None]
    at: NotRequired[float | None]


class DebateCommand(RunFields):
    """A command of a person or of the thread."""

    type: Literal[
        "PAUSE", "RESUME", "STOP", "RETRY", "JUDGE_NOW", "ALL_ROUNDS_COMPLETE", "ACKNOWLEDGE_WARNING",
        "cancel", "resume", "retry",
    ]  # fmt: skip
    at: NotRequired[float | None]


DebateEvent = (
    StartDebate
    | InitComplete
    | ArgumentsReady
    | RoundComplete
    | VerdictReady
    | ErrorReported
    | Warned
    | OverLimit
    | Streamed
    | StreamEnded
    | Late
    | ReplyReport
    | RaiseLimit
    | LimitAnswer
    | Said
    | DebateCommand
)


class ConfigFields(RunFields, total=False):
    """The fields of START_DEBATE, `message` and `resume` of a debate that has not begun."""

    type: str
    config: Json | None
    participants: list[Json] | None
    judge: Json | None
    text: str | None
    parts: list[PartJson] | None
    at: float | None


class DebaterFields(TypedDict, total=False):
    """The fields of events about one debater or one reply."""

    type: str
    participantId: str | None
    requestId: str | None
    error: ResponseError | None
    usage: UsageJson | None
    costUsd: float | None


class ResponseFacts(TypedDict, total=False):
    """The facts of a response, as events bring them."""

    content: str | None
    tokensUsed: int | None
    latencyMs: float | None
    timestamp: float | None
    usage: UsageJson | None
    costUsd: float | None


class ReplyEnded(TypedDict):
    """REPLY.COMPLETED, REPLY.FAILED and REPLY.CANCELLED: a reply has ended."""

    type: str
    requestId: str


class InitialiserOutput(TypedDict, total=False):
    """The output of the initialiser."""

    prices: dict[str, ModelPrice | None] | None
    error: DebateError | None


class InitialiserDone(TypedDict):
    """The initialiser has ended."""

    type: str
    output: InitialiserOutput | None


class JudgeOutput(TypedDict, total=False):
    """The output of the judge: a verdict or an error, and its usage."""

    verdict: "GivenVerdict | None"
    error: ResponseError | None
    usage: UsageJson | None
    costUsd: float | None
    tokensUsed: int
    at: float | None


class JudgeEvent(TypedDict):
    """The end of the judge, as an actor or told from outside."""

    type: str
    output: NotRequired[JudgeOutput | None]
    verdict: NotRequired[GivenVerdict | None]
    usage: NotRequired[UsageJson | None]
    tokensUsed: NotRequired[int]
    costUsd: NotRequired[float | None]
    at: NotRequired[float | None]


class ServiceFailed(TypedDict):
    """An actor has ended with an error."""

    type: str
    error: NotRequired[object]


class LimitFields(TypedDict):
    """RAISE_LIMIT and `answer`: a new cost limit."""

    type: str
    costLimit: NotRequired[object]


class OverLimitFields(TypedDict):
    """An event at which the cost limit may be reached."""

    type: str
    estimate: NotRequired[str | None]


class AnyEvent(TypedDict):
    """An event of which at most the type and the run matter."""

    type: str
    runId: NotRequired[str | None]
