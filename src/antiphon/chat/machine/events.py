"""The events of a chat: what people ask for, and what its children tell it."""

from typing import Any, Literal, NotRequired, TypedDict


class Start(TypedDict):
    """Begin."""

    type: Literal["start"]


class Configure(TypedDict):
    """Change settings, given here or on their own beside `type`."""

    type: Literal["configure"]
    config: NotRequired[dict[str, Any]]


class Message(TypedDict):
    """Say something, as text or as parts."""

    type: Literal["message"]
    text: NotRequired[str]
    parts: NotRequired[list[dict[str, Any]]]
    role: NotRequired[str]
    id: NotRequired[str]
    at: NotRequired[int]
    tags: NotRequired[list[str]]
    pinned: NotRequired[bool]
    branch: NotRequired[str]
    runId: NotRequired[str | None]
    resumeReason: NotRequired[str | None]
    resumeNote: NotRequired[str | None]


class InjectContext(TypedDict):
    """Add context without a turn."""

    type: Literal["inject_context"]
    text: NotRequired[str]
    parts: NotRequired[list[dict[str, Any]]]
    key: NotRequired[str]
    id: NotRequired[str]
    at: NotRequired[int]
    tags: NotRequired[list[str]]
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
    """Bring another branch into the current one."""

    type: Literal["merge"]
    source: NotRequired[str]
    strategy: NotRequired[Literal["sequential", "interleave", "manual"]]


class ResolveConflict(TypedDict):
    """Decide one conflict; in a manual merge, or choose the turns."""

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


class OfBranch(TypedDict):
    """Go to an open branch, or close one."""

    type: Literal["switch", "close"]
    branch: str


class Pin(TypedDict):
    """Pin a message, or let it go."""

    type: Literal["pin"]
    message: str
    pinned: NotRequired[bool]


class Cancel(TypedDict):
    """Cut the reply in flight."""

    type: Literal["cancel"]


class ToolResults(TypedDict):
    """What the tools gave that the last reply asked for."""

    type: Literal["tool_results"]
    results: list[dict[str, Any]]
    id: NotRequired[str]
    at: NotRequired[int]


class Wait(TypedDict):
    """The tools wait for a person."""

    type: Literal["wait"]
    reason: str


class Answer(TypedDict):
    """A person allows the tools what they ask for, or does not."""

    type: Literal["answer"]
    decision: Literal["allow", "deny"]
    id: NotRequired[str]
    scope: NotRequired[Literal["once", "thread"]]
    reason: NotRequired[str]


class Again(TypedDict):
    """Go on where a reply was lost, or ask the last question again."""

    type: Literal["resume", "retry"]
    runId: NotRequired[str | None]
    resumeReason: NotRequired[str | None]
    resumeNote: NotRequired[str | None]


class UseModel(TypedDict):
    """Ask another model from now on."""

    type: Literal["use_model"]
    model: str


class ReplyStarted(TypedDict):
    """The child has begun to speak."""

    type: Literal["REPLY.STARTED"]
    requestId: str


class ReplyCompleted(TypedDict):
    """The child has spoken."""

    type: Literal["REPLY.COMPLETED"]
    requestId: str
    message: dict[str, Any]
    usage: NotRequired[dict[str, Any] | None]
    costUsd: NotRequired[float | None]
    durationMs: NotRequired[float | None]
    totalTokens: NotRequired[int | None]
    stop: NotRequired[str | None]
    at: NotRequired[int]


class ReplyFailed(TypedDict):
    """The child failed, and will not try again."""

    type: Literal["REPLY.FAILED"]
    requestId: str
    error: Any
    text: NotRequired[str]
    at: NotRequired[int]


class ReplyCancelled(TypedDict):
    """The child was cut."""

    type: Literal["REPLY.CANCELLED"]
    requestId: str
    text: NotRequired[str]
    at: NotRequired[int]


class TurnTimeout(TypedDict):
    """A turn took too long."""

    type: Literal["turn_timeout"]
    requestId: str


FlowEvent = (
    Start
    | Configure
    | Message
    | InjectContext
    | ForkEvent
    | Rewind
    | CheckpointEvent
    | MergeEvent
    | ResolveConflict
    | Named
    | Crystallize
    | OfBranch
    | Pin
    | Cancel
    | ToolResults
    | Wait
    | Answer
    | Again
    | UseModel
    | ReplyStarted
    | ReplyCompleted
    | ReplyFailed
    | ReplyCancelled
    | TurnTimeout
)
