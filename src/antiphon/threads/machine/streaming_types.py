"""The types of the streaming machine: its context, its settings and its events."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from antiphon.threads.machine.content import MessageJson, UsageJson

State = Literal["idle", "sending", "streaming", "complete", "error"]
ToolStatus = Literal["running", "complete", "error"]


class ToolActivity(TypedDict):
    """Progress of a tool that the model uses."""

    name: str
    status: ToolStatus
    durationMs: NotRequired[float]
    input: NotRequired[Any]
    result: NotRequired[Any]
    interrupted: NotRequired[bool]


class Failure(TypedDict):
    """Error of a reply. The first digit of the code says what to do: 1 try again, 2 sign in, 3 wait, 9 give up."""

    code: str
    message: str
    recoverable: bool
    retryAfterMs: NotRequired[float]


class StreamingSettings(TypedDict):
    """Limits of a conversation, and options that are passed to the model."""

    model: str | None
    options: dict[str, Any]
    budgetUsd: float | None
    firstEventMs: float
    inactivityMs: float
    maxAttempts: int
    backoffMs: float
    longestRetryMs: float
    retryAfterDelta: bool


class ReplyState(TypedDict):
    """The part of the context that every request starts anew; within steps, both texts are `GrowingText`."""

    text: str
    thinking: str
    tools: dict[str, ToolActivity]
    error: Failure | None
    costUsd: float | None
    durationMs: float | None
    totalTokens: int | None
    stop: str | None
    usage: UsageJson | None
    retryDelayMs: float | None
    sentAt: float | None
    firstTokenMs: float | None


class StreamingContext(ReplyState):
    """The latest reply, the history of the conversation, its spending and its settings."""

    requestId: str | None
    sessionId: str | None
    lastPrompt: str | None
    messages: list[dict[str, Any]]
    cancelled: bool
    attempt: int
    streamEvents: int
    eventsAtLook: int
    staleEvents: int
    settledUsd: float
    spentUsd: float
    budgetWarned: bool
    reportsToParent: bool
    settings: StreamingSettings


class RetryReset(ReplyState):
    """The keys of the context that a retry sets."""

    requestId: str | None
    settledUsd: float


class MessageReset(RetryReset):
    """The keys of the context that a new message sets."""

    sessionId: str | None
    lastPrompt: str | None
    messages: list[dict[str, Any]]
    cancelled: bool
    attempt: int


class StreamingChanges(TypedDict, total=False):
    """The keys of the context that other actions set, one or a few at a time."""

    text: str
    thinking: str
    tools: dict[str, ToolActivity]
    error: Failure | None
    costUsd: float | None
    durationMs: float | None
    totalTokens: int | None
    stop: str | None
    usage: UsageJson | None
    retryDelayMs: float | None
    sentAt: float | None
    firstTokenMs: float | None
    requestId: str | None
    messages: list[dict[str, Any]]
    cancelled: bool
    attempt: int
    streamEvents: int
    eventsAtLook: int
    staleEvents: int
    spentUsd: float
    budgetWarned: bool


class StreamingInput(TypedDict, total=False):
    """The input of the machine, besides its settings; with a prompt it starts at once."""

    messages: list[dict[str, Any]] | None
    sessionId: str | None
    reportsToParent: bool
    prompt: str | None
    requestId: str
    at: float


class SendPrompt(TypedDict):
    """A prompt; null asks for a reply to the messages so far."""

    type: Literal["SEND"]
    prompt: str | None
    sessionId: NotRequired[str | None]
    requestId: NotRequired[str]
    at: NotRequired[float]


class RequestStarted(TypedDict):
    """The request was sent to the model."""

    type: Literal["REQUEST_STARTED"]
    requestId: str
    at: NotRequired[float]


class FirstEvent(TypedDict):
    """The first event of the reply arrived."""

    type: Literal["FIRST_EVENT"]
    requestId: NotRequired[str]
    at: NotRequired[float]


class Chunk(TypedDict):
    """More text, or more thinking."""

    type: Literal["TEXT_CHUNK", "THINKING_CHUNK"]
    content: str
    requestId: NotRequired[str]
    at: NotRequired[float]


class ToolStarted(TypedDict):
    """The model started a tool."""

    type: Literal["TOOL_START"]
    toolId: str
    toolName: str
    index: NotRequired[int]
    input: NotRequired[Any]
    requestId: NotRequired[str]
    at: NotRequired[float]


class ToolCompleted(TypedDict):
    """A tool finished."""

    type: Literal["TOOL_COMPLETE"]
    toolId: str
    isError: bool
    durationMs: float
    result: NotRequired[Any]
    requestId: NotRequired[str]


class UsageReported(TypedDict):
    """Usage of the reply so far; also sent as a sign of life while nothing can be shown yet."""

    type: Literal["USAGE"]
    usage: UsageJson
    costUsd: float | None
    requestId: NotRequired[str]


class Complete(TypedDict):
    """The reply is complete."""

    type: Literal["COMPLETE"]
    costUsd: float | None
    durationMs: float
    totalTokens: int
    message: NotRequired[MessageJson]
    problems: NotRequired[list[str]]
    stop: NotRequired[str]
    usage: NotRequired[UsageJson]
    requestId: NotRequired[str]
    at: NotRequired[float]


class StreamError(TypedDict):
    """The reply failed; `jitter` is a random number from 0 to 1 that spreads retries."""

    type: Literal["ERROR"]
    code: str
    message: str
    recoverable: bool
    retryAfterMs: NotRequired[float]
    jitter: NotRequired[float]
    costUsd: NotRequired[float | None]
    usage: NotRequired[UsageJson]
    requestId: NotRequired[str]


class StreamCommand(TypedDict):
    """Cancel the reply, try again, or start a new conversation."""

    type: Literal["CANCEL", "RETRY", "RESET"]
    requestId: NotRequired[str]


class StreamingFields(TypedDict, total=False):
    """The fields of events, for functions that more than one event reaches."""

    requestId: str | None
    at: float
    message: MessageJson
    problems: list[str]
    usage: UsageJson
    costUsd: float | None
    jitter: float
    input: StreamingInput | None


class CallError(TypedDict):
    """The event of the engine for a call that raised an error."""

    error: Mapping[str, Any] | BaseException


class ReplyStarted(TypedDict):
    """The report to a parent that the reply has begun to arrive."""

    type: Literal["REPLY.STARTED"]
    requestId: str


class Spending(TypedDict, total=False):
    """The usage, cost and duration of a request."""

    usage: UsageJson | None
    costUsd: float | None
    durationMs: float | None


class ReplyCompleted(Spending):
    """The report to a parent that the reply is complete."""

    type: Literal["REPLY.COMPLETED"]
    requestId: str
    message: MessageJson
    # Where the answer does not match the schema that the request asks for.
    problems: NotRequired[list[str]]
    totalTokens: NotRequired[int | None]
    stop: NotRequired[str | None]
    at: NotRequired[int]


class UnfinishedReply(Spending, total=False):
    """The text of a reply that did not complete."""

    text: str
    at: int


class ReplyFailed(UnfinishedReply):
    """The report to a parent that the reply failed and is not retried."""

    type: Literal["REPLY.FAILED"]
    requestId: str
    error: Failure


class ReplyCancelled(UnfinishedReply):
    """The report to a parent that the reply was cut."""

    type: Literal["REPLY.CANCELLED"]
    requestId: str


ReplyReport = ReplyStarted | ReplyCompleted | ReplyFailed | ReplyCancelled
StreamEvent = RequestStarted | FirstEvent | Chunk | ToolStarted | ToolCompleted | UsageReported | Complete | StreamError
StreamingEvent = SendPrompt | StreamCommand | StreamEvent
"""Event of the streaming machine."""
COMMANDS = ("SEND", "CANCEL", "RETRY", "RESET")
"""Events that may come from outside; those of the stream come from the call of the model."""
