"""Bodies of responses, as declared types, which describe them in the OpenAPI document."""

from typing import Any, Literal, NotRequired, TypedDict

Events = dict[str, list[str]]


class ThreadRow(TypedDict):
    """A thread in a list; `line` is the line that a search has found, and `matchCursor` the place after it."""

    id: str
    kind: str
    status: str
    title: str
    model: str | None
    branch: str
    turns: int
    costUsd: float
    unpriced: int
    updated: int
    archived: bool
    owner: str
    waiting: str | None
    error: str | None
    problem: str | None
    listCursor: str
    line: NotRequired[str]
    matchCursor: NotRequired[str]


class ThreadList(TypedDict):
    """A page of threads; `next` is the cursor of the next page, or null at the end."""

    items: list[ThreadRow]
    next: str | None


class RequestRow(TypedDict):
    """A request to a person that waits for its answer."""

    id: str
    address: str
    reason: str
    speaker: NotRequired[str]
    text: NotRequired[str]
    options: NotRequired[list[Any]]
    calls: NotRequired[list[dict[str, Any]]]
    timeoutMs: NotRequired[int]
    limit: NotRequired[dict[str, Any]]


class PermissionRow(TypedDict):
    """A permission that lasts, in words, and as a person or the settings gave it: by its scope, or by a pattern."""

    id: str
    text: str
    decision: str
    scope: NotRequired[str]
    tool: NotRequired[str]
    value: NotRequired[str]
    pattern: NotRequired[str]
    sandbox: NotRequired[bool]
    network: NotRequired[bool]
    history: NotRequired[str]


class OpenReplyRow(TypedDict):
    """A reply in progress, with its words so far; `state` is that of its machine, `sentAt` when it was requested.

    A reply that failed and is requested again has its `error`, and the delay `retryMs` before that.
    """

    address: str
    state: str
    text: str
    thinking: str
    sentAt: int | None
    attempt: int
    error: dict[str, Any] | None
    retryMs: float | None
    speaker: NotRequired[str]


class OpenedThread(ThreadRow):
    """A thread as it is at `cursor`: `can` has the events that its actors take now, by their addresses."""

    cursor: str
    requests: list[RequestRow]
    permissions: list[PermissionRow]
    can: Events
    replies: list[OpenReplyRow]
    transcript: bool
    content: NotRequired[dict[str, Any]]


class ReceiptReply(TypedDict):
    """The outcome of an event: `accepted`, or `duplicate` if its key was taken before; `cursor` is its step."""

    thread: str
    status: str
    seq: int
    cursor: str


class ActivityRow(TypedDict):
    """An activity of a thread."""

    seq: int
    cursor: str
    at: int
    kind: str
    facts: dict[str, Any]
    offset: NotRequired[int]
    speaker: NotRequired[str]


class ActivityList(TypedDict):
    """A page of activities, the cursor after them, and whether there are more."""

    items: list[ActivityRow]
    cursor: str
    more: bool


class UsageReply(TypedDict):
    """The cost of a thread, and the figures that its kind keeps."""

    kind: str
    costUsd: float
    figures: dict[str, Any]


class Checkpoints(TypedDict):
    """The checkpoints of a chat, by id."""

    items: dict[str, Any]


class PlanReply(TypedDict):
    """The plan of a run, or null."""

    plan: dict[str, Any] | None


class ModelRow(TypedDict):
    """A model, or all models of a provider, and whether it can be used; prices are USD for a million tokens.

    `window` has the tokens of its context window, as far as they are known.
    """

    reference: str
    usable: bool
    why: str
    note: str
    price: dict[str, str] | None
    window: int | None


class ModelList(TypedDict):
    """The models that the server knows."""

    items: list[ModelRow]


class AgentList(TypedDict):
    """The agents of runs that name none, as their files have them."""

    items: list[dict[str, Any]]


class ToolRow(TypedDict):
    """A tool that threads of this server may use."""

    name: str
    description: str
    parameters: dict[str, Any]
    risk: str | None


class ToolList(TypedDict):
    """The tools of the server; none act on the host unless the operator allows a workspace."""

    items: list[ToolRow]


class ChartRow(TypedDict):
    """A machine, the version and the hash of its chart."""

    id: str
    version: Any
    hash: str


class ChartList(TypedDict):
    """The machines of the server."""

    items: list[ChartRow]


class ChartReply(ChartRow):
    """The chart of a machine as JSON of XState, and its events: which may come from outside, and their schemas.

    `config` is the chart as it was written, with names in the place of functions.
    """

    chart: dict[str, Any]
    config: dict[str, Any]
    events: dict[str, Any]
    public: list[str]


class ActorRow(TypedDict):
    """An actor of a tree, by its address, with the events that it takes.

    `machine` and `hash` name its chart; both are null if it is no machine.
    """

    address: str
    src: str | None
    status: str
    value: Any
    machine: str | None
    hash: str | None
    can: list[str]


class RootRow(TypedDict):
    """A tree of actors, of a thread or of another machine."""

    id: str
    machine: str
    status: str
    seq: int
    updated: int


class RootList(TypedDict):
    """A page of trees in the order of their ids; `next` is the id that the next page begins after."""

    items: list[RootRow]
    next: str | None


class ActorTree(TypedDict):
    """The actors of a tree, and the events that the root actor takes now."""

    id: str
    machine: str
    version: Any
    hash: str
    seq: int
    cursor: str
    forkedFrom: str | None
    forkedStep: int | None
    actors: list[ActorRow]
    can: list[str]


class SnapshotReply(TypedDict):
    """The snapshot of a tree after a step."""

    id: str
    step: int
    snapshot: dict[str, Any]


class EntryRow(TypedDict):
    """A step of a journal: the letter that an actor took, and what it changed."""

    seq: int
    at: int
    to: str
    event: dict[str, Any]
    letter: str | None
    value: Any
    status: str | None
    emitted: list[Any]


class TransitionRow(TypedDict):
    """A transition that an actor took: by its state, the event as the chart names it, and its place among those for it.

    The event of an eventless transition is empty.
    """

    actor: str
    source: str
    event: str
    index: int
    targets: list[str]


class StepReply(TypedDict):
    """A step of a journal with the tree after it, and the transitions that its actors took, in order."""

    id: str
    entry: EntryRow
    actors: list[ActorRow]
    snapshot: dict[str, Any]
    taken: list[TransitionRow]


class EntryList(TypedDict):
    """A page of a journal; `next` is the step that the next page begins after."""

    items: list[EntryRow]
    next: int | None


class ForkReply(TypedDict):
    """The id of a new tree."""

    id: str


class EventReply(TypedDict):
    """The outcome of an event that was sent to an actor."""

    status: str
    seq: int
    cursor: str


class AuditRow(TypedDict):
    """A change by a token, or a refused attempt; `n` counts them, and `request` is the id of the request."""

    n: int
    at: int
    request: str
    user: str
    token: str | None
    address: str
    method: str
    route: str
    thread: str | None
    status: int
    code: str | None


class AuditList(TypedDict):
    """A page of the audit log, the newest first; `next` is the number before which the next page begins."""

    items: list[AuditRow]
    next: int | None


class Health(TypedDict):
    """The state of the server."""

    status: str
    version: NotRequired[str]


class ProblemReply(TypedDict):
    """A problem (RFC 9457); `error` is the class in Python, and further members depend on its code."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    recoverable: bool
    error: NotRequired[str]
    can: NotRequired[Events]
    open: NotRequired[list[str]]
    offered: NotRequired[list[str]]
    permission: NotRequired[str]
    permissions: NotRequired[list[str]]
    resume: NotRequired[str]
    first: NotRequired[int]
    fields: NotRequired[list[dict[str, str]]]
    path: NotRequired[str]
    allow: NotRequired[list[str]]
    providerCode: NotRequired[str]
    retryAfter: NotRequired[int]
    requestId: NotRequired[str]


class LocalReply(TypedDict):
    """A server for windows of this machine; `mode` is `local` if it ends by itself, `keys` are the keys it takes."""

    version: str
    pid: int
    store: str
    startedAt: int
    mode: Literal["local", "serve"]
    keys: list[str]


class WindowList(TypedDict):
    """The number of terminals and pages that show a thread now, by its id."""

    windows: dict[str, int]


class HandOverReply(TypedDict):
    """A server that ends, so that another process can own the store."""

    pid: int
