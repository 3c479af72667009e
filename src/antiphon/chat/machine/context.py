"""The context of a chat: its settings, its tree of messages, and what is under way in it."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from antiphon.chat.machine.persistent_map import Log

Tag = Literal["REQUIRED", "PRESERVED", "DROPPABLE"]
TAGS: tuple[Tag, ...] = ("REQUIRED", "PRESERVED", "DROPPABLE")
TRIGGERS = ("close", "inactivity", "overflow", "goal")
MAIN = "main"


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
    autoStart: bool
    # What tools may do; without it, their results come from outside.
    consent: dict[str, Any] | None


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
    "autoStart": False,
    "consent": None,
}


class StoredMessage(TypedDict):
    """A message in the tree; it is never changed."""

    id: str
    parent: str | None
    role: str
    parts: list[dict[str, Any]]
    # Of the whole conversation from its beginning up to and including this message:
    hash: str
    turn: int
    tokens: int
    at: NotRequired[int]
    tags: NotRequired[list[Tag]]
    key: NotRequired[str]
    source: NotRequired[str]
    usage: NotRequired[dict[str, Any]]
    costUsd: NotRequired[float]
    interrupted: NotRequired[bool]
    copiedFrom: NotRequired[str]
    mergedFrom: NotRequired[str]
    derivedFrom: NotRequired[list[str]]


class Window(TypedDict):
    """What of a branch is left out when a model is asked: everything up to `cut`, except for what is kept."""

    cut: str
    kept: list[str]
    summary: str | None
    # False after a compression that could not reach the lower mark, until less is used again.
    armed: bool


class Branch(TypedDict):
    """A named head in the tree."""

    name: str
    head: str | None
    parent: str | None
    forkPoint: str | None
    mergedInto: str | None
    window: Window | None


class Checkpoint(TypedDict):
    """A place in the tree that can be gone back to; its id is the hash of what stands there."""

    id: str
    head: str | None
    branch: str
    turn: int
    name: NotRequired[str]
    at: NotRequired[int]


class Conflict(TypedDict):
    """Two branches touch the same item: which of the turns is taken."""

    id: str
    item: str
    ours: str | None
    theirs: str | None
    pick: str | None


class Merge(TypedDict):
    """A merge that waits to be confirmed."""

    source: str
    target: str
    base: str | None
    strategy: Literal["sequential", "interleave", "manual"]
    conflicts: list[Conflict]
    turns: list[str] | None


class Fork(TypedDict):
    """A fork that waits to be confirmed."""

    name: str
    parent: str
    forkPoint: str | None


class Reply(TypedDict):
    """The reply in flight."""

    requestId: str
    branch: str
    parent: str | None
    phase: Literal["wanted", "compressing", "replying", "tools"]
    prefix: str | None
    # What happens to the text so far when it is cut.
    cut: Literal["keep", "discard"] | None
    # Its tools were started, and wait for a person.
    called: bool
    waiting: bool
    # Why it was cut by the machine itself.
    error: dict[str, Any] | None


class Run(TypedDict):
    """What the parent is told when the chat is idle again."""

    runId: str | None
    cost: float
    duration: float
    outcome: Literal["completed", "failed", "cancelled"]
    error: dict[str, Any] | None


class Metrics(TypedDict):
    """What a conversation used, counted as it goes."""

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


class FlowContext(TypedDict):
    """The context of the machine `chat`."""

    config: FlowConfig
    reportsToParent: bool
    messages: Mapping[str, StoredMessage]
    branches: dict[str, Branch]
    closed: Mapping[str, Branch]
    branch: str
    checkpoints: Mapping[str, Checkpoint]
    pinned: list[str]
    fork: Fork | None
    merge: Merge | None
    reply: Reply | None
    queue: list[dict[str, Any]]
    # What a person has allowed for the whole thread.
    overrides: list[dict[str, Any]]
    run: Run | None
    lastError: dict[str, Any] | None
    crystallizing: str | None
    crystal: dict[str, Any] | None
    metrics: Metrics
    nextMessage: int
    nextRequest: int


def new_branch(name: str, head: str | None = None, parent: str | None = None, window: Window | None = None) -> Branch:
    """A branch that begins at a message."""
    return {"name": name, "head": head, "parent": parent, "forkPoint": head, "mergedInto": None, "window": window}


def new_metrics() -> Metrics:
    """Nothing used yet."""
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


def emptied(config: FlowConfig, reports: bool, next_message: int, next_request: int) -> FlowContext:
    """A chat without a message. The counters go on, so that no id ever means two things."""
    return {
        "config": config,
        "reportsToParent": reports,
        "messages": Log(),
        "branches": {MAIN: new_branch(MAIN)},
        "closed": Log(),
        "branch": MAIN,
        "checkpoints": Log(),
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
        "nextMessage": next_message,
        "nextRequest": next_request,
    }
