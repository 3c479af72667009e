"""The context of a chat: its settings, its tree of messages, and the work in progress."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from antiphon.chat.machine.persistent_map import PersistentMap
from antiphon.messages import Role
from antiphon.threads.machine.content import PartJson, RunFields, UsageJson
from antiphon.threads.machine.permission_rules import ConsentSettings
from antiphon.threads.machine.scopes import Override
from antiphon.threads.machine.thread_events import RequestJson

Tag = Literal["REQUIRED", "PRESERVED", "DROPPABLE"]
TAGS: tuple[Tag, ...] = ("REQUIRED", "PRESERVED", "DROPPABLE")
TRIGGERS = ("close", "inactivity", "overflow", "goal")
MAIN = "main"

Parts = list[dict[str, Any]]
Phase = Literal["wanted", "compressing", "replying", "tools"]
RunOutcome = Literal["completed", "failed", "cancelled"]
Strategy = Literal["sequential", "interleave", "manual", "consensus"]
Scope = Literal["message", "thread"]
LimitName = Literal[
    "maxToolRounds", "maxThreadToolRounds", "maxCostUsd", "maxThreadCostUsd", "maxWallMs", "maxThreadWallMs"
]


class FlowConfig(TypedDict):
    """The settings of a chat; `configure` and the input may give any of them."""

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
    # Limits of what is done for one message, and in the whole thread.
    maxToolRounds: int | None
    maxThreadToolRounds: int | None
    maxCostUsd: float | None
    maxThreadCostUsd: float | None
    maxWallMs: int | None
    maxThreadWallMs: int | None
    warnAt: float
    autoStart: bool
    # Permissions of the tools; without them, results of tools come from outside.
    consent: ConsentSettings | None
    clientTools: bool  # tools are called by the client, which a request asks for their results


DEFAULTS: FlowConfig = {
    "model": None,
    "system": None,
    "systemPlacement": "prepend",
    "settings": {},
    "strategy": "sliding",
    "summaries": "model",
    "contextLimit": 128_000,
    "compressAt": 0.8,
    "resumeAt": 0.7,
    "onBusy": "reject",
    "onStop": "finish",
    "maxBranches": 3,
    "maxTurns": None,
    "maxQueue": 100,
    "turnTimeoutMs": None,
    "maxToolRounds": 25,
    "maxThreadToolRounds": None,
    "maxCostUsd": None,
    "maxThreadCostUsd": None,
    "maxWallMs": None,
    "maxThreadWallMs": None,
    "warnAt": 0.8,
    "autoStart": False,
    "consent": None,
    "clientTools": False,
}


class CarriedFields(TypedDict, total=False):
    """The fields of a message that the tree takes over from its draft."""

    at: int
    tags: list[Tag]
    key: str
    source: str
    usage: UsageJson
    costUsd: float
    interrupted: bool
    copiedFrom: str
    mergedFrom: str
    derivedFrom: list[str]
    branch: str
    options: dict[str, Any]


class StoredMessage(CarriedFields):
    """A message in the tree; it never changes."""

    id: str
    parent: str | None
    role: str
    parts: Parts
    # Of the whole conversation from its beginning up to and including this message:
    hash: str
    turn: int
    tokens: int


class MessageDraft(TypedDict):
    """A message before it is in the tree; None stands for an absent field."""

    role: str
    parts: Parts
    id: NotRequired[str | None]
    at: NotRequired[int | None]
    tags: NotRequired[list[Tag] | None]
    key: NotRequired[str | None]
    source: NotRequired[str | None]
    usage: NotRequired[UsageJson | None]
    costUsd: NotRequired[float | None]
    interrupted: NotRequired[bool | None]
    copiedFrom: NotRequired[str]
    mergedFrom: NotRequired[str | None]
    derivedFrom: NotRequired[list[str]]
    branch: NotRequired[str]
    options: NotRequired[dict[str, Any]]


class QueuedMessage(RunFields, total=False):
    """A message that waits for the reply in flight, with the fields of its event."""

    text: str | None
    parts: list[PartJson] | None
    role: Role
    id: str | None
    at: int | None
    tags: list[Tag] | None
    key: str | None
    source: str | None
    usage: UsageJson | None
    costUsd: float | None
    interrupted: bool | None
    pinned: bool
    branch: str | None
    joins: bool  # it joins the question before it, whose reply was cut
    options: dict[str, Any] | None  # of the model, for the reply to this message


class Window(TypedDict):
    """The part of a branch that models do not get: everything up to `cut`, except for the kept messages."""

    cut: str
    kept: list[str]
    summary: str | None
    # False after a compression that could not reach the lower mark, until less is used again.
    armed: bool


class ChatBranch(TypedDict):
    """A named head in the tree."""

    name: str
    head: str | None
    parent: str | None
    forkPoint: str | None
    mergedInto: str | None
    window: Window | None


class Checkpoint(TypedDict):
    """A position in the tree to rewind to; its id is the hash of the conversation there."""

    id: str
    head: str | None
    branch: str
    turn: int
    name: NotRequired[str]
    at: NotRequired[int]


class MergeConflict(TypedDict):
    """Two turns that touch the same item, and the pick between them."""

    id: str
    item: str
    ours: str | None
    theirs: str | None
    pick: str | None


class ErrorInfo(TypedDict):
    """An error as data."""

    code: str
    message: str
    recoverable: bool
    # How long the provider asks to wait before the next request.
    retryAfterMs: NotRequired[float]


class MergeProposal(TypedDict):
    """The text that joins both sides of a merge by consensus, and the request for it."""

    requestId: str
    phase: Literal["wanted", "asked", "ready", "missing"]
    text: str | None
    # The model that wrote the text, and what it used; None if a person wrote it.
    source: str | None
    usage: UsageJson | None
    costUsd: float | None
    error: ErrorInfo | None


class PlannedMerge(TypedDict):
    """A merge that waits to be confirmed; both sides begin after their bases."""

    source: str
    target: str
    base: str | None
    # The last message of the source that needs no merge; absent in merges of version 1, where it is the base.
    theirBase: NotRequired[str | None]
    strategy: Strategy
    conflicts: list[MergeConflict]
    turns: list[str] | None
    proposal: NotRequired[MergeProposal]


class PlannedFork(TypedDict):
    """A fork that waits to be confirmed."""

    name: str
    parent: str
    forkPoint: str | None


class PendingReply(TypedDict):
    """The reply in flight."""

    requestId: str
    branch: str
    parent: str | None
    phase: Phase
    prefix: str | None
    # Whether the text so far is kept when the reply is cut; None while it is not cut.
    cut: Literal["keep", "discard"] | None
    called: bool  # its tools were started
    # A person is asked: for permission, or for more than the limit.
    waiting: bool
    # The request that they wait with.
    request: NotRequired[RequestJson | None]
    # The limit that it waits at, or that cuts it.
    limit: NotRequired[LimitName | None]
    # The reason why the machine itself cut it.
    error: ErrorInfo | None


class ChatRun(TypedDict):
    """The run that is reported to the parent when the chat is idle again."""

    runId: str | None
    cost: float
    duration: float
    outcome: RunOutcome
    error: ErrorInfo | None


class Artifact(TypedDict):
    """A block of code from a reply."""

    language: str | None
    content: str
    message: str


class CrystalDraft(TypedDict):
    """The content of a crystal."""

    title: str
    summary: str
    decisions: list[str]
    artifacts: list[Artifact]


class Crystal(CrystalDraft):
    """The summary of a conversation that has ended."""

    by: str
    trigger: str
    branch: str
    hash: str
    significance: float


class Metrics(TypedDict):
    """Counters of a conversation."""

    turns: int
    messages: int
    replies: int
    failures: int
    cancelled: int
    forks: int
    merges: int
    rewinds: int
    compressions: int
    inputTokens: int
    outputTokens: int
    costUsd: float
    unpriced: int
    durationMs: float
    slowestMs: float


class Spent(TypedDict):
    """Spending that limits apply to."""

    toolRounds: int
    costUsd: float
    wallMs: float


class Budget(TypedDict):
    """Spending for the current message and in the whole thread, and the state of the limits."""

    message: Spent
    thread: Spent
    raised: dict[LimitName, float]  # limits that a person raised
    warned: list[LimitName]
    # How often a person was asked at a limit.
    asked: int
    # The time up to which wall time is counted, or None if it is not known.
    since: int | None
    # The wall time of message and thread when the timer ends, while it is set.
    timer: dict[Scope, float] | None


class FlowContext(TypedDict):
    """The context of the machine `chat`."""

    config: FlowConfig
    reportsToParent: bool
    messages: Mapping[str, StoredMessage]
    branches: dict[str, ChatBranch]
    closed: Mapping[str, ChatBranch]
    branch: str
    checkpoints: Mapping[str, Checkpoint]
    pinned: list[str]
    fork: PlannedFork | None
    merge: PlannedMerge | None
    reply: PendingReply | None
    queue: list[QueuedMessage]
    # Permissions that a person gave for the whole thread.
    overrides: list[Override]
    run: ChatRun | None
    lastError: ErrorInfo | None
    crystallizing: str | None
    crystal: Crystal | None
    metrics: Metrics
    budget: Budget
    nextMessage: int
    nextRequest: int


class FlowChanges(TypedDict):
    """The key of the context that an action sets without returning the whole context."""

    reply: PendingReply | None


def new_branch(
    name: str, head: str | None = None, parent: str | None = None, window: Window | None = None
) -> ChatBranch:
    """Return a branch that begins at a message."""
    return {"name": name, "head": head, "parent": parent, "forkPoint": head, "mergedInto": None, "window": window}


def new_metrics() -> Metrics:
    """Return counters at zero."""
    return {
        "turns": 0,
        "messages": 0,
        "replies": 0,
        "failures": 0,
        "cancelled": 0,
        "forks": 0,
        "merges": 0,
        "rewinds": 0,
        "compressions": 0,
        "inputTokens": 0,
        "outputTokens": 0,
        "costUsd": 0.0,
        "unpriced": 0,
        "durationMs": 0.0,
        "slowestMs": 0.0,
    }


def new_spent() -> Spent:
    """Return a spending of nothing."""
    return {"toolRounds": 0, "costUsd": 0.0, "wallMs": 0}


def new_budget() -> Budget:
    """Return a budget of which nothing is spent."""
    return {
        "message": new_spent(),
        "thread": new_spent(),
        "raised": {},
        "warned": [],
        "asked": 0,
        "since": None,
        "timer": None,
    }


def empty_context(config: FlowConfig, reports: bool, next_message: int, next_request: int) -> FlowContext:
    """Return the context of a chat without messages; counters of ids go on, so that no id is used twice."""
    return {
        "config": config,
        "reportsToParent": reports,
        "messages": PersistentMap(),
        "branches": {MAIN: new_branch(MAIN)},
        "closed": PersistentMap(),
        "branch": MAIN,
        "checkpoints": PersistentMap(),
        "pinned": [],
        "fork": None,
        "merge": None,
        "reply": None,
        "queue": [],
        "overrides": [],
        "run": None,
        "lastError": None,
        "crystallizing": None,
        "crystal": None,
        "metrics": new_metrics(),
        "budget": new_budget(),
        "nextMessage": next_message,
        "nextRequest": next_request,
    }
