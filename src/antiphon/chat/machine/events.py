"""The events of a chat: requests of people, and reports of its children."""

from typing import Any, Literal, NotRequired, TypedDict

from antiphon.chat.machine.context import Parts, QueuedMessage, RunFields, Strategy, Tag
from antiphon.threads.machine.tools import ToolsOutput


class Start(TypedDict):
    """Start the conversation."""

    type: Literal["start"]


class Configure(TypedDict):
    """Change settings, given under `config` or beside `type`."""

    type: Literal["configure"]
    config: NotRequired[dict[str, Any]]


class MessageEvent(QueuedMessage):
    """Say something, as text or as parts."""

    type: Literal["message"]


class InjectContext(TypedDict):
    """Add context without a turn."""

    type: Literal["inject_context"]
    text: NotRequired[str]
    parts: NotRequired[Parts]
    key: NotRequired[str]
    id: NotRequired[str]
    at: NotRequired[int]
    tags: NotRequired[list[Tag]]
    pinned: NotRequired[bool]


# `from` is a Python keyword, so this one cannot be a class.
ForkEvent = TypedDict(
    "ForkEvent",
    {"type": Literal["fork"], "name": NotRequired[str], "from": NotRequired[str], "turn": NotRequired[int]},
)


class Rewind(TypedDict):
    """Go back some turns, or to a checkpoint."""

    type: Literal["rewind"]
    turns: NotRequired[int]
    checkpointId: NotRequired[str]


class CheckpointEvent(TypedDict):
    """Mark where the branch stands."""

    type: Literal["checkpoint"]
    name: NotRequired[str]
    at: NotRequired[int]


class MergeEvent(TypedDict):
    """Merge another branch into the current one."""

    type: Literal["merge"]
    source: NotRequired[str]
    strategy: NotRequired[Strategy]


class ResolveConflict(TypedDict):
    """Decide one conflict, or choose the turns of a manual merge."""

    type: Literal["resolve_conflict"]
    conflict: NotRequired[str]
    pick: NotRequired[Literal["ours", "theirs", "both", "neither"]]
    turns: NotRequired[list[str]]


class Named(TypedDict):
    """An event that needs nothing but its name."""

    type: Literal["confirm_fork", "cancel_fork", "confirm_merge", "cancel_merge", "stop", "flush", "reset", "harvest"]


class Crystallize(TypedDict):
    """Make the crystal; `plain` does it without the model."""

    type: Literal["crystallize"]
    plain: NotRequired[bool]
    trigger: NotRequired[Literal["close", "inactivity", "overflow", "goal"]]


class BranchEvent(TypedDict):
    """Switch to an open branch, or close one."""

    type: Literal["switch", "close"]
    branch: str


class Pin(TypedDict):
    """Pin a message, or unpin it."""

    type: Literal["pin"]
    message: str
    pinned: NotRequired[bool]


class CancelEvent(TypedDict):
    """Cut the reply in flight."""

    type: Literal["cancel"]


class ToolResults(TypedDict):
    """Results of the tools that the last reply called."""

    type: Literal["tool_results"]
    results: list[dict[str, Any]]
    id: NotRequired[str]
    at: NotRequired[int]


class Wait(TypedDict):
    """The tools wait for a person's permission."""

    type: Literal["wait"]
    reason: str


class AnswerEvent(RunFields):
    """A person allows the calls of the tools, or denies them."""

    type: Literal["answer"]
    decision: Literal["allow", "deny"]
    id: NotRequired[str]
    scope: NotRequired[Literal["once", "thread"]]
    reason: NotRequired[str]


class RepeatEvent(RunFields):
    """Continue a reply that was lost, or ask the last question again."""

    type: Literal["resume", "retry"]


class UseModel(TypedDict):
    """Use another model from now on."""

    type: Literal["use_model"]
    model: str


class Spending(TypedDict, total=False):
    """The usage, cost and duration of a request."""

    usage: dict[str, Any] | None
    costUsd: float | None
    durationMs: float | None


class ReplyStarted(TypedDict):
    """The reply has begun to arrive."""

    type: Literal["REPLY.STARTED"]
    requestId: str


class ReplyCompleted(Spending):
    """The reply is complete."""

    type: Literal["REPLY.COMPLETED"]
    requestId: str
    message: dict[str, Any]
    totalTokens: NotRequired[int | None]
    stop: NotRequired[str | None]
    at: NotRequired[int]


class UnfinishedReply(Spending, total=False):
    """The text of a reply that did not complete."""

    text: str
    at: int


class ReplyFailed(UnfinishedReply):
    """The reply failed and is not retried."""

    type: Literal["REPLY.FAILED"]
    requestId: str
    error: Any


class ReplyCancelled(UnfinishedReply):
    """The reply was cut."""

    type: Literal["REPLY.CANCELLED"]
    requestId: str


class TurnTimeout(TypedDict):
    """A turn exceeded its time limit."""

    type: Literal["turn_timeout"]
    requestId: str


FlowEvent = (
    Start
    | Configure
    | MessageEvent
    | InjectContext
    | ForkEvent
    | Rewind
    | CheckpointEvent
    | MergeEvent
    | ResolveConflict
    | Named
    | Crystallize
    | BranchEvent
    | Pin
    | CancelEvent
    | ToolResults
    | Wait
    | AnswerEvent
    | RepeatEvent
    | UseModel
    | ReplyStarted
    | ReplyCompleted
    | ReplyFailed
    | ReplyCancelled
    | TurnTimeout
)


class FailureEvent(UnfinishedReply, total=False):
    """The failure of a reply or of a child, as an error of any kind."""

    error: object


class SummaryOutput(Spending, total=False):
    """The output of the summariser."""

    text: str


class SummaryEnded(TypedDict, total=False):
    """The summariser has ended; one that failed has no output."""

    output: SummaryOutput | None


class CrystalOutput(Spending, total=False):
    """The output of the crystallizer; the rules supply what it leaves out."""

    title: str
    summary: str
    decisions: list[str]
    artifacts: list[Any]


class CrystalEnded(TypedDict, total=False):
    """The crystallizer has ended, with an output or an error."""

    output: CrystalOutput | None
    error: object


class ToolsEnded(TypedDict):
    """The tools have ended."""

    output: ToolsOutput


class FlowFields(RunFields, total=False):
    """The fields of events, for functions that more than one event reaches."""

    type: str
    requestId: str
    branch: str | None
    decision: str
    reason: str
    output: ToolsOutput


_ForkOrigin = TypedDict("_ForkOrigin", {"from": object}, total=False)


class FlowRequest(_ForkOrigin, total=False):
    """The fields of an event from outside before it is checked: any of them may hold anything."""

    type: str
    config: object
    text: object
    parts: object
    role: object
    id: object
    tags: object
    branch: object
    name: object
    turn: object
    turns: object
    checkpointId: object
    source: object
    strategy: object
    conflict: object
    pick: object
    message: object
    results: object
    decision: object
    scope: object
    reason: object
    runId: object
    resumeNote: object
    trigger: object
    plain: object
