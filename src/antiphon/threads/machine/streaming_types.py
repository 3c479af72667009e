"""The types of the streaming machine: its context, its settings and its events."""

from typing import Any, Literal, NotRequired, TypedDict

from antiphon.chart.text import Text

State = Literal["idle", "sending", "streaming", "complete", "error"]
ToolStatus = Literal["running", "complete", "error"]


class ToolActivity(TypedDict):
    """A tool that the model uses."""

    name: str
    status: ToolStatus
    durationMs: NotRequired[float]
    input: NotRequired[Any]
    result: NotRequired[Any]
    interrupted: NotRequired[bool]


class Failure(TypedDict):
    """What went wrong; the first digit of the code says what to do: 1 try again, 2 sign in, 3 wait, 9 give up."""

    code: str
    message: str
    recoverable: bool
    retryAfterMs: NotRequired[float]


class StreamingSettings(TypedDict):
    """The limits of a conversation, and what is passed on to the model."""

    model: str | None
    options: dict[str, Any]
    budgetUsd: float | None
    firstEventMs: float
    inactivityMs: float
    maxAttempts: int
    backoffMs: float
    longestRetryMs: float
    retryAfterDelta: bool


class StreamingContext(TypedDict):
    """What a conversation remembers; the first nine keys are about the latest reply."""

    requestId: str | None
    sessionId: str | None
    text: str | Text
    thinking: str | Text
    tools: dict[str, ToolActivity]
    error: Failure | None
    costUsd: float | None
    durationMs: float | None
    totalTokens: int | None

    lastPrompt: str | None
    messages: list[dict[str, Any]]
    stop: str | None
    usage: dict[str, Any] | None
    cancelled: bool
    attempt: int
    retryDelayMs: float | None
    sentAt: float | None
    firstTokenMs: float | None
    streamEvents: int
    eventsAtLook: int
    staleEvents: int
    settledUsd: float
    spentUsd: float
    budgetWarned: bool
    reportsToParent: bool
    settings: StreamingSettings


class Send(TypedDict):
    """A prompt; null means that the messages so far are to be answered."""

    type: Literal["SEND"]
    prompt: str | None
    sessionId: NotRequired[str | None]
    requestId: NotRequired[str]
    at: NotRequired[float]


class RequestStarted(TypedDict):
    """The model is being asked."""

    type: Literal["REQUEST_STARTED"]
    requestId: str
    at: NotRequired[float]


class FirstEvent(TypedDict):
    """The reply begins."""

    type: Literal["FIRST_EVENT"]
    requestId: NotRequired[str]
    at: NotRequired[float]


class Chunk(TypedDict):
    """More words, or more of a thought."""

    type: Literal["TEXT_CHUNK", "THINKING_CHUNK"]
    content: str
    requestId: NotRequired[str]
    at: NotRequired[float]


class ToolStarted(TypedDict):
    """The model uses a tool."""

    type: Literal["TOOL_START"]
    toolId: str
    toolName: str
    index: NotRequired[int]
    input: NotRequired[Any]
    requestId: NotRequired[str]
    at: NotRequired[float]


class ToolCompleted(TypedDict):
    """A tool is done."""

    type: Literal["TOOL_COMPLETE"]
    toolId: str
    isError: bool
    durationMs: float
    result: NotRequired[Any]
    requestId: NotRequired[str]


class UsageReported(TypedDict):
    """What the reply has used so far; also the sign that something arrives which is not shown yet."""

    type: Literal["USAGE"]
    usage: dict[str, Any]
    costUsd: float | None
    requestId: NotRequired[str]


class Complete(TypedDict):
    """The reply is whole."""

    type: Literal["COMPLETE"]
    costUsd: float | None
    durationMs: float
    totalTokens: int
    message: NotRequired[dict[str, Any]]
    stop: NotRequired[str]
    usage: NotRequired[dict[str, Any]]
    requestId: NotRequired[str]
    at: NotRequired[float]


class Failed(TypedDict):
    """The reply failed; `jitter` is a random number from 0 to 1 that spreads retries."""

    type: Literal["ERROR"]
    code: str
    message: str
    recoverable: bool
    retryAfterMs: NotRequired[float]
    jitter: NotRequired[float]
    costUsd: NotRequired[float | None]
    usage: NotRequired[dict[str, Any]]
    requestId: NotRequired[str]


class Command(TypedDict):
    """Enough of this reply, another try at it, or a new conversation."""

    type: Literal["CANCEL", "RETRY", "RESET"]
    requestId: NotRequired[str]


StreamEvent = RequestStarted | FirstEvent | Chunk | ToolStarted | ToolCompleted | UsageReported | Complete | Failed
StreamingEvent = Send | Command | StreamEvent
