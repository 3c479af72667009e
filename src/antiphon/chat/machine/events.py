"""The events of a chat: requests of people, and reports of its children."""

from typing import Any, Literal, NotRequired, TypedDict

from antiphon.chat.machine.context import QueuedMessage, Strategy, Tag
from antiphon.threads.machine.content import PartJson, RunFields
from antiphon.threads.machine.permission_rules import ConsentSettings
from antiphon.threads.machine.scopes import Override
from antiphon.threads.machine.streaming_types import ReplyReport, Spending, UnfinishedReply
from antiphon.threads.machine.tools_types import RequestClosed, ToolsOutput, Wait

PUBLIC = (
    "start", "configure", "message", "inject_context", "fork", "confirm_fork", "cancel_fork", "rewind", "checkpoint",
    "merge", "resolve_conflict", "propose", "confirm_merge", "cancel_merge", "switch", "close", "pin", "stop", "flush",
    "crystallize", "harvest", "reset", "cancel", "tool_results", "ANSWER", "resume", "retry", "use_model",
    "raise_limit", "revoke",
)  # fmt: skip
"""Events that may come from outside; the others come from the reply, the tools and a timer."""


class Timed(TypedDict):
    """The time of an event, in milliseconds since the epoch."""

    at: NotRequired[int]


class Start(Timed):
    """Start the conversation."""

    type: Literal["start"]


class LimitSettings(TypedDict, total=False):
    """Some limits of a chat."""

    maxToolRounds: int | None
    maxThreadToolRounds: int | None
    maxCostUsd: float | None
    maxThreadCostUsd: float | None
    maxWallMs: int | None
    maxThreadWallMs: int | None


class FlowSettings(LimitSettings, total=False):
    """Some settings of a chat."""

    model: str | None
    system: str | None
    systemPlacement: Literal["prepend", "inject"]
    settings: dict[str, Any]
    strategy: Literal["none", "sliding", "summarise", "forget"]
    summaries: Literal["model", "plain"]
    contextLimit: int
    compressAt: float
    resumeAt: float
    onBusy: Literal["reject", "queue", "interrupt", "merge"]
    onStop: Literal["finish", "cut"]
    maxBranches: int
    maxTurns: int | None
    maxQueue: int
    turnTimeoutMs: int | None
    warnAt: float
    autoStart: bool
    consent: ConsentSettings | None
    clientTools: bool


class Configure(Timed, FlowSettings):
    """Change settings, given under `config` or beside `type`."""

    type: Literal["configure"]
    config: NotRequired[FlowSettings | None]


class MessageEvent(QueuedMessage):
    """Say something, as text or as parts."""

    type: Literal["message"]


class InjectContext(Timed):
    """Add context without a turn."""

    type: Literal["inject_context"]
    text: NotRequired[str | None]
    parts: NotRequired[list[PartJson] | None]
    key: NotRequired[str | None]
    id: NotRequired[str | None]
    tags: NotRequired[list[Tag] | None]
    pinned: NotRequired[bool]


# `from` is a Python keyword, so this one cannot be a class.
_ForkPoint = TypedDict("_ForkPoint", {"from": NotRequired[str | None]})


class ForkEvent(Timed, _ForkPoint):
    """Plan a branch from a message, from a turn, or from the end of the current branch."""

    type: Literal["fork"]
    name: NotRequired[str | None]
    turn: NotRequired[int | None]


class Rewind(Timed):
    """Go back some turns, or to a checkpoint or any message, also one that was left behind."""

    type: Literal["rewind"]
    turns: NotRequired[int]
    checkpointId: NotRequired[str]
    message: NotRequired[str]


class CheckpointEvent(Timed):
    """Mark where the branch stands."""

    type: Literal["checkpoint"]
    name: NotRequired[str]


class MergeEvent(Timed):
    """Merge another branch into the current one."""

    type: Literal["merge"]
    source: NotRequired[str | None]
    strategy: NotRequired[Strategy | None]


class ResolveConflict(Timed):
    """Decide one conflict, or choose the turns of a manual merge."""

    type: Literal["resolve_conflict"]
    conflict: NotRequired[str | None]
    pick: NotRequired[Literal["ours", "theirs", "both", "neither"] | None]
    turns: NotRequired[list[str]]


class Propose(Timed):
    """Give the text that joins both sides of a merge by consensus; without one, ask the model for another."""

    type: Literal["propose"]
    text: NotRequired[str | None]


class Named(Timed):
    """An event that needs nothing but its name."""

    type: Literal["confirm_fork", "cancel_fork", "confirm_merge", "cancel_merge", "stop", "flush", "reset", "harvest"]


class Crystallize(Timed):
    """Make the crystal; `plain` does it without the model."""

    type: Literal["crystallize"]
    plain: NotRequired[bool]
    trigger: NotRequired[Literal["close", "inactivity", "overflow", "goal"] | None]


class BranchEvent(Timed):
    """Switch to a branch, which is opened again if it is closed; or close one."""

    type: Literal["switch", "close"]
    branch: str


class Pin(Timed):
    """Pin a message, or unpin it."""

    type: Literal["pin"]
    message: str
    pinned: NotRequired[bool]


class CancelEvent(Timed, RunFields):
    """Cut the reply in flight."""

    type: Literal["cancel"]


class ToolResults(Timed):
    """Results of the tools that the last reply called."""

    type: Literal["tool_results"]
    results: list[PartJson]
    id: NotRequired[str | None]


class AnswerAtLimit(Timed):
    """A person raises the limit that a reply waits at, or ends the turn there."""

    type: Literal["ANSWER"]
    id: str
    decision: Literal["allow", "deny"]
    reason: NotRequired[str | None]
    # The new limit; without it, the one that the request offers.
    limit: NotRequired[float | None]


class RepeatEvent(Timed, RunFields):
    """Continue a reply that was lost, or ask the last question again."""

    type: Literal["resume", "retry"]


class UseModel(Timed):
    """Use another model from now on."""

    type: Literal["use_model"]
    model: str


class RaiseLimits(Timed, LimitSettings):
    """Change limits from now on; a reply that waits at one of them may continue."""

    type: Literal["raise_limit"]


class RevokePermission(Timed):
    """Take back a permission that lasts: calls that it covered are asked about again."""

    type: Literal["revoke"]
    permission: Override


class WallTime(TypedDict):
    """The wall time of the message or of the thread is over."""

    type: Literal["wall_time"]


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
    | Propose
    | Named
    | Crystallize
    | BranchEvent
    | Pin
    | CancelEvent
    | ToolResults
    | Wait
    | RequestClosed
    | AnswerAtLimit
    | RepeatEvent
    | UseModel
    | RaiseLimits
    | RevokePermission
    | ReplyReport
    | TurnTimeout
    | WallTime
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


class ProposalOutput(Spending, total=False):
    """The output of the reconciler: the text, and the model that wrote it."""

    text: str
    source: str


class ProposalEnded(TypedDict, total=False):
    """The reconciler has ended, with an output or an error."""

    output: ProposalOutput | None
    error: object


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
    id: str | None
    decision: str
    reason: str
    permission: Override
    at: int


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
    limit: object
    permission: object
    runId: object
    resumeNote: object
    trigger: object
    plain: object
