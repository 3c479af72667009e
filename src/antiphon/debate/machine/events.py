"""The events of a debate: as they are sent, and by what its functions read in them."""

from typing import Literal, NotRequired, TypedDict

from antiphon.debate.machine.context import (
    DebateError,
    Json,
    Judge,
    ModelPrice,
    Participant,
    ResponseError,
    TokenUsage,
)


class StartDebate(TypedDict):
    """Start the debate; debaters and judge may be in the configuration or beside it."""

    type: Literal["START_DEBATE"]
    config: Json
    participants: NotRequired[list[Json]]
    judge: NotRequired[Json]
    at: NotRequired[float]


class InitComplete(TypedDict):
    """The models are ready; `prices` has the price of a million tokens, by model."""

    type: Literal["INIT_COMPLETE"]
    participants: list[Json]
    judge: NotRequired[Json]
    prices: NotRequired[dict[str, Json | None]]


class ArgumentsReady(TypedDict):
    """All openings are complete."""

    type: Literal["ARGUMENTS_READY"]
    responses: list[Json]


class RoundComplete(TypedDict):
    """A round is over."""

    type: Literal["ROUND_COMPLETE"]
    round: Json


class VerdictReady(TypedDict):
    """The judge has decided."""

    type: Literal["VERDICT_READY"]
    verdict: Json


class ErrorReported(TypedDict):
    """An error ends the phase."""

    type: Literal["ERROR"]
    error: Json


class Warned(TypedDict):
    """A threshold of cost is crossed."""

    type: Literal["COST_WARNING"]
    warning: Json


class OverLimit(TypedDict):
    """The next call might break the limit."""

    type: Literal["COST_LIMIT"]
    participantId: NotRequired[str]
    estimate: NotRequired[str]


class Streamed(TypedDict):
    """More text of a response that is streamed from outside."""

    type: Literal["STREAM_CHUNK"]
    participantId: str
    chunk: str


class StreamEnded(TypedDict):
    """A response that is streamed from outside is complete."""

    type: Literal["STREAM_COMPLETE"]
    participantId: str
    content: NotRequired[str]
    usage: NotRequired[Json]
    costUsd: NotRequired[float]
    at: NotRequired[float]


class Late(TypedDict):
    """A debater took too long for an opening."""

    type: Literal["DEBATER_TIMEOUT"]
    participantId: str


class Replied(TypedDict):
    """A report of the actor of a reply."""

    type: Literal["REPLY.STARTED", "REPLY.COMPLETED", "REPLY.FAILED", "REPLY.CANCELLED"]
    requestId: str
    message: NotRequired[Json]
    usage: NotRequired[Json]
    costUsd: NotRequired[float | None]
    error: NotRequired[Json]


class RaiseLimit(TypedDict):
    """Raise the cost limit."""

    type: Literal["RAISE_LIMIT", "answer"]
    costLimit: float


class Said(TypedDict):
    """A message of a person: the topic first, later an interjection."""

    type: Literal["INTERJECT", "message"]
    text: NotRequired[str]
    parts: NotRequired[list[Json]]
    at: NotRequired[float]


class DebateCommand(TypedDict):
    """A command of a person or of the thread."""

    type: Literal[
        "PAUSE", "RESUME", "STOP", "RETRY", "JUDGE_NOW", "ALL_ROUNDS_COMPLETE", "ACKNOWLEDGE_WARNING",
        "cancel", "resume", "retry",
    ]  # fmt: skip
    runId: NotRequired[str]
    at: NotRequired[object]


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
    | Replied
    | RaiseLimit
    | Said
    | DebateCommand
)


class ConfigEvent(TypedDict):
    """START_DEBATE, `message` and `resume` of a debate that has not begun."""

    type: str
    config: NotRequired[Json | None]
    participants: NotRequired[list[Json] | None]
    judge: NotRequired[Json | None]
    text: NotRequired[str | None]
    parts: NotRequired["list[TextPart] | None"]
    at: NotRequired[float | None]
    runId: NotRequired[str | None]


class TextPart(TypedDict):
    """A part of a message."""

    type: NotRequired[str]
    text: NotRequired[str]


class PersonSpoke(TypedDict):
    """INTERJECT and `message`: words of a person."""

    type: str
    text: NotRequired[str | None]
    parts: NotRequired[list[TextPart] | None]
    at: NotRequired[float | None]


class ParticipantsEvent(TypedDict):
    """INIT_COMPLETE: the debaters, the judge and the prices of their models."""

    type: str
    participants: list[Participant]
    judge: NotRequired[Judge | None]
    prices: NotRequired[dict[str, ModelPrice | None] | None]


class DebaterEvent(TypedDict):
    """An event about one debater or one reply."""

    type: str
    participantId: NotRequired[str | None]
    requestId: NotRequired[str | None]
    error: NotRequired[ResponseError | None]
    usage: NotRequired[TokenUsage | None]
    costUsd: NotRequired[float | None]


class StreamChunk(TypedDict):
    """STREAM_CHUNK: more text of a debater or of the judge."""

    type: str
    participantId: str
    chunk: str


class ResponseFacts(TypedDict, total=False):
    """The facts of a response, as events bring them."""

    content: str | None
    tokensUsed: int | None
    latencyMs: float | None
    timestamp: float | None
    usage: TokenUsage | None
    costUsd: float | None


class StreamDone(TypedDict):
    """STREAM_COMPLETE: the whole response of a debater or of the judge."""

    type: str
    participantId: str
    content: NotRequired[str | None]
    tokensUsed: NotRequired[int | None]
    latencyMs: NotRequired[float | None]
    usage: NotRequired[TokenUsage | None]
    costUsd: NotRequired[float | None]
    at: NotRequired[float | None]


class ReplyMessage(TypedDict):
    """The message of a reply."""

    parts: list[TextPart]
    at: NotRequired[float | None]


class ReplyDone(TypedDict):
    """REPLY.COMPLETED: a reply, its usage and its cost."""

    type: str
    requestId: NotRequired[str | None]
    message: ReplyMessage
    participantId: NotRequired[str | None]
    error: NotRequired[ResponseError | None]
    usage: NotRequired[TokenUsage | None]
    costUsd: NotRequired[float | None]
    durationMs: NotRequired[float | None]
    totalTokens: NotRequired[int | None]


class ReplyEnded(TypedDict):
    """REPLY.COMPLETED, REPLY.FAILED and REPLY.CANCELLED: a reply has ended."""

    type: str
    requestId: str


class DebaterFailed(TypedDict):
    """REPLY.FAILED: a reply has failed."""

    type: str
    requestId: str
    error: "ReplyError"


class ReplyError(TypedDict):
    """The error of a reply."""

    code: str
    message: str
    recoverable: bool


class OutsideResponse(TypedDict):
    """A response that came from outside."""

    participantId: str
    content: NotRequired[str | None]
    tokensUsed: NotRequired[int | None]
    latencyMs: NotRequired[float | None]
    timestamp: NotRequired[float | None]
    usage: NotRequired[TokenUsage | None]
    costUsd: NotRequired[float | None]
    failed: NotRequired[bool]
    error: NotRequired[ResponseError | None]


class OutsideRound(TypedDict, total=False):
    """A round that came from outside."""

    phase: str
    roundNumber: int
    responses: list[OutsideResponse] | None


class OpeningsEvent(TypedDict):
    """ARGUMENTS_READY: the openings."""

    type: str
    responses: NotRequired[list[OutsideResponse] | None]


class RoundEvent(TypedDict):
    """ROUND_COMPLETE: the round that is over."""

    type: str
    round: NotRequired[OutsideRound | None]


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
    usage: TokenUsage | None
    costUsd: float | None
    tokensUsed: int
    at: float | None


class GivenVerdict(TypedDict, total=False):
    """A verdict as the judge gives it."""

    scores: dict[str, float]
    criteria: Json
    reasoning: str
    references: list[Json]
    tokensUsed: int
    timestamp: float | None
    usage: TokenUsage | None
    costUsd: float | None
    at: float | None


class JudgeEvent(TypedDict):
    """The end of the judge, as an actor or told from outside."""

    type: str
    output: NotRequired[JudgeOutput | None]
    verdict: NotRequired[GivenVerdict | None]
    usage: NotRequired[TokenUsage | None]
    tokensUsed: NotRequired[int]
    costUsd: NotRequired[float | None]
    at: NotRequired[float | None]


class ServiceFailed(TypedDict):
    """An actor has ended with an error."""

    type: str
    error: NotRequired[object]


class DebateErrorEvent(TypedDict):
    """ERROR: an error from outside."""

    type: str
    error: DebateError
    at: NotRequired[float | None]


class GivenWarning(TypedDict):
    """A warning about a threshold."""

    threshold: str
    currentCost: str
    timestamp: NotRequired[float | None]


class WarningEvent(TypedDict):
    """COST_WARNING: a warning about a threshold."""

    type: str
    warning: GivenWarning


class LimitEvent(TypedDict):
    """RAISE_LIMIT and `answer`: a new cost limit."""

    type: str
    costLimit: NotRequired[object]


class OverLimitEvent(TypedDict):
    """An event at which the cost limit may be reached."""

    type: str
    estimate: NotRequired[str | None]


class AnyEvent(TypedDict):
    """An event of which at most the type and the run matter."""

    type: str
    runId: NotRequired[str | None]
