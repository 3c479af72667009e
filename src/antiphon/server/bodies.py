"""Bodies of requests, as declared types: they are checked by them, and described by them in the OpenAPI document."""

from typing import Any, Literal, NotRequired, TypedDict

from antiphon.chat.machine.events import FlowSettings

PermissionMode = Literal["plan", "ask", "auto-edit", "auto"]
OnBusy = Literal["reject", "queue", "interrupt", "merge"]


class NewThread(TypedDict, total=False):
    """Fields of every new thread."""

    id: str
    title: str | None
    owner: str


class WindowSettings(TypedDict, total=False):
    """Settings that only windows of the server's machine can give: the folder of tools, and the permission mode."""

    workspace: str
    mode: PermissionMode


class GrantList(WindowSettings):
    """What a window gives a thread while the server runs; `models` by address or file are for one from a file."""

    models: NotRequired[list[str]]


class CreateChat(NewThread, WindowSettings, FlowSettings):
    """A new chat; `tools` are names of `GET /tools`, `history` is that of an export."""

    kind: Literal["chat"]
    tools: NotRequired[list[str]]
    history: NotRequired[dict[str, Any]]


class CreateRun(NewThread, WindowSettings):
    """A new run; without `agents`, those of `GET /agents`; `tools` are names of `GET /tools`.

    `mcp` is the file of the MCP servers of a window, which names it again when the run is resumed.
    """

    kind: Literal["run"]
    model: NotRequired[str | None]
    fallback: NotRequired[list[str]]
    agents: NotRequired[list[dict[str, Any]]]
    plan: NotRequired[dict[str, Any]]
    arbiter: NotRequired[dict[str, Any] | None]
    defaultAgent: NotRequired[str]
    tools: NotRequired[list[str]]
    consent: NotRequired[dict[str, Any] | None]
    options: NotRequired[dict[str, Any]]
    session: NotRequired[str]
    providerName: NotRequired[str]
    dryRun: NotRequired[bool]
    maxIterations: NotRequired[int | None]
    maxFailures: NotRequired[int | None]
    maxCostUsd: NotRequired[float | None]
    maxWallMs: NotRequired[int | None]
    backoffMs: NotRequired[int | None]
    longestBackoffMs: NotRequired[int | None]
    graceMs: NotRequired[int | None]
    mcp: NotRequired[str]


class CreateDebate(NewThread):
    """A new debate, with the debaters of `participants`, or one for each of `models`."""

    kind: Literal["debate"]
    topic: str
    models: NotRequired[list[str]]
    participants: NotRequired[list[dict[str, Any]]]
    judge: NotRequired[dict[str, Any] | None]
    format: NotRequired[str]
    maxRounds: NotRequired[int]
    maxTokens: NotRequired[int]
    timeoutPerRound: NotRequired[float]
    costLimit: NotRequired[float | None]
    warnAtCost: NotRequired[float | None]
    onCostLimit: NotRequired[Literal["error", "judge"]]
    earlyStop: NotRequired[bool]
    contextLimit: NotRequired[int]


class ChangeThread(TypedDict, total=False):
    """Changes of a thread; a title of null is derived from its first words again."""

    title: str | None
    archived: bool


class SendMessage(TypedDict, total=False):
    """A message of a person: a text, or parts; `onBusy` says what happens if the thread is running.

    `options` of the model hold for the reply to this message of a chat alone.
    """

    text: str
    parts: list[dict[str, Any]]
    options: dict[str, Any]
    onBusy: OnBusy


class StartThread(TypedDict, total=False):
    """The first message of a chat, or the task of a run, maybe with a plan; a debate starts without a text."""

    text: str
    plan: dict[str, Any]


class Respond(TypedDict):
    """The answer to an open request: a text, or a decision; at a limit, the new limit.

    `scope` is one that the request offers; `arguments` changes those of calls, by their ids, and holds once.
    Only a window of the server's machine lets a command run `outside` its sandbox, once.
    """

    requestId: str
    text: NotRequired[str]
    decision: NotRequired[Literal["allow", "deny"]]
    scope: NotRequired[Literal["once", "command", "folder", "host", "tool"]]
    reason: NotRequired[str]
    limit: NotRequired[float]
    outside: NotRequired[bool]
    arguments: NotRequired[dict[str, dict[str, Any]]]


class TakeBack(TypedDict):
    """The id of a permission that lasts, which is taken back."""

    permission: str


class ForkThread(TypedDict, total=False):
    """The step that a new thread continues from; without it, the last one."""

    step: int


_Origin = TypedDict("_Origin", {"from": NotRequired[str]})


class NewBranch(_Origin):
    """A branch of a chat: from a message, from a turn, or from the end of the current branch."""

    name: NotRequired[str]
    turn: NotRequired[int]


class RewindChat(TypedDict, total=False):
    """The turns to go back, 1 by default, or the checkpoint to go back to."""

    turns: int
    checkpointId: str


class NewCheckpoint(TypedDict, total=False):
    """The name of a checkpoint."""

    name: str


class MergeBranch(TypedDict, total=False):
    """The branch to merge into the current one, and how."""

    source: str
    strategy: str


class ResolveMerge(TypedDict, total=False):
    """The decision about one conflict of a merge, or the turns of a manual one."""

    conflict: str
    pick: Literal["ours", "theirs", "both", "neither"]
    turns: list[str]


class NewLimits(TypedDict, total=False):
    """Limits of a chat, or the cost limit of a debate."""

    maxToolRounds: int | None
    maxThreadToolRounds: int | None
    maxCostUsd: float | None
    maxThreadCostUsd: float | None
    maxWallMs: int | None
    maxThreadWallMs: int | None
    costLimit: float


class Perform(TypedDict):
    """An event of the chat, run or debate itself, with its keys in `payload`."""

    action: str
    payload: NotRequired[dict[str, Any]]


class ChooseAgent(TypedDict):
    """The agent of a run that works next."""

    name: str


class Interject(TypedDict):
    """Words of a person that the debaters hear from now on."""

    text: str


class SendEvent(TypedDict):
    """An event to an actor of a tree; `to` is its address, and that of the root actor is empty."""

    event: dict[str, Any]
    to: NotRequired[str]


class WindowKeyList(TypedDict):
    """Keys of models by the names of their environment variables, for the window that sends them."""

    keys: dict[str, str]


class PriceFile(TypedDict):
    """The name of a price file, and its text."""

    name: str
    text: str


class OpenWindow(TypedDict, total=False):
    """A window that stays open: its MCP servers as in their file, their environment, and its price file."""

    servers: dict[str, Any]
    environment: dict[str, str]
    prices: PriceFile


class HandOver(TypedDict, total=False):
    """The version that takes the store over; `ifIdle` refuses while a thread is running or a window is open."""

    version: str
    ifIdle: bool
