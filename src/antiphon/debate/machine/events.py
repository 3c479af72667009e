"""The events of a debate."""

from typing import Any, Literal, NotRequired, TypedDict

from antiphon.debate.machine.context import Json


class StartDebate(TypedDict):
    """Begin: debaters and judge may stand in the configuration or beside it."""

    type: Literal["START_DEBATE"]
    config: Json
    participants: NotRequired[list[Json]]
    judge: NotRequired[Json]
    at: NotRequired[float]


class InitComplete(TypedDict):
    """Everyone is ready; `prices` has a price for a million tokens, by model."""

    type: Literal["INIT_COMPLETE"]
    participants: list[Json]
    judge: NotRequired[Json]
    prices: NotRequired[dict[str, Json | None]]


class ArgumentsReady(TypedDict):
    """All openings are there."""

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


class Failed(TypedDict):
    """Something went wrong."""

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
    """More words of a debater who is streamed from outside."""

    type: Literal["STREAM_CHUNK"]
    participantId: str
    chunk: str


class StreamEnded(TypedDict):
    """A debater who is streamed from outside has spoken."""

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
    """What the actor of a reply tells."""

    type: Literal["REPLY.STARTED", "REPLY.COMPLETED", "REPLY.FAILED", "REPLY.CANCELLED"]
    requestId: str
    message: NotRequired[Json]
    usage: NotRequired[Json]
    costUsd: NotRequired[float | None]
    error: NotRequired[Json]


class RaiseLimit(TypedDict):
    """More may be spent."""

    type: Literal["RAISE_LIMIT", "answer"]
    costLimit: float


class Said(TypedDict):
    """A person says something: the topic first, later an interjection."""

    type: Literal["INTERJECT", "message"]
    text: NotRequired[str]
    parts: NotRequired[list[Json]]
    at: NotRequired[float]


class Command(TypedDict):
    """What a person, or the thread above, wants."""

    type: Literal[
        "PAUSE", "RESUME", "STOP", "RETRY", "JUDGE_NOW", "ALL_ROUNDS_COMPLETE", "ACKNOWLEDGE_WARNING",
        "cancel", "resume", "retry",
    ]  # fmt: skip
    runId: NotRequired[str]
    at: NotRequired[Any]


DebateEvent = (
    StartDebate
    | InitComplete
    | ArgumentsReady
    | RoundComplete
    | VerdictReady
    | Failed
    | Warned
    | OverLimit
    | Streamed
    | StreamEnded
    | Late
    | Replied
    | RaiseLimit
    | Said
    | Command
)
