"""The events of a thread: requests of people, and reports of its content."""

from typing import Any, Literal, NotRequired, TypedDict

from antiphon.messages import Role
from antiphon.threads.machine.content import PartJson, RunFields

ThreadStatus = Literal["pending", "running", "waiting", "completed", "failed", "stopped", "interrupted"]
"""Status of a thread."""
ResumeReason = Literal["interrupted", "waiting-response", "post-merge", "follow-up"]
"""Reason why a thread runs again."""
WaitingReason = Literal["question", "plan", "permission", "provider_error", "cost_warning", "limit", "tools"]
Kind = Literal["chat", "run", "debate"]
StartType = Literal["START", "RESTART", "RESPOND", "FOLLOW_UP"]
PUBLIC = ("START", "RESTART", "RESPOND", "FOLLOW_UP", "STOP", "MERGED", "ARCHIVE", "UNARCHIVE", "RENAME")
"""Events that may come from outside; the others are reports of the content, or of a program that has the content."""


class ThreadInput(TypedDict, total=False):
    """The input of a thread."""

    threadId: str | None
    kind: Kind | None
    title: str | None
    owner: str
    config: dict[str, Any]
    imported: bool  # for the service: the machine does not read it


class ContentMessage(RunFields, total=False):
    """A message of a person to the content of a thread, of whatever kind it is."""

    text: str | None
    parts: list[PartJson] | None
    at: float | None
    # Of a chat:
    id: str | None
    role: Role
    branch: str | None
    tags: list[Literal["REQUIRED", "PRESERVED", "DROPPABLE"]] | None
    key: str | None
    pinned: bool
    options: dict[str, Any] | None
    # Of a run:
    plan: dict[str, Any] | None
    agentName: str | None


class RequestJson(TypedDict):
    """A request to a person that waits for its answer; `address` is the path of the actor that takes it."""

    id: str
    address: str
    reason: str
    agentId: NotRequired[str]
    question: NotRequired[str]
    options: NotRequired[Any]
    calls: NotRequired[Any]
    timeoutMs: NotRequired[Any]
    # Of a chat at one of its limits: its name, its value, the spending, and the next value.
    limit: NotRequired[Any]


class Begin(TypedDict):
    """Run the thread."""

    type: StartType
    runId: NotRequired[str]
    message: NotRequired[ContentMessage]
    requestId: NotRequired[str | None]
    retry: NotRequired[bool]
    postMerge: NotRequired[bool]
    at: NotRequired[int]


class Report(TypedDict):
    """A run has ended, waits for a person, was stopped or was lost."""

    type: Literal["COMPLETE", "FAIL", "WAIT", "STOP", "INTERRUPT"]
    runId: NotRequired[str | None]
    cost: NotRequired[float]
    duration: NotRequired[float]
    error: NotRequired[Any]
    reason: NotRequired[WaitingReason]
    requests: NotRequired[list[RequestJson]]
    at: NotRequired[int]


class GoOn(TypedDict):
    """No request of the content waits for a person any more."""

    type: Literal["GO_ON"]
    runId: NotRequired[str | None]
    at: NotRequired[int]


class SetStatus(TypedDict):
    """Set the status that another program reports."""

    type: Literal["SET_STATUS"]
    status: ThreadStatus
    reason: NotRequired[WaitingReason]
    at: NotRequired[int]


class Merged(TypedDict):
    """The work of the thread was merged."""

    type: Literal["MERGED"]
    at: NotRequired[int]


class Shelve(TypedDict):
    """Archive the thread, or take it out of the archive; its status does not change."""

    type: Literal["ARCHIVE", "UNARCHIVE"]
    at: NotRequired[int]


class Rename(TypedDict):
    """Set the title of the thread; without one, the title comes from its first words again."""

    type: Literal["RENAME"]
    title: str | None
    at: NotRequired[int]


ThreadEvent = Begin | Report | GoOn | SetStatus | Merged | Shelve | Rename
"""Event of the thread machine."""


class ThreadFields(TypedDict, total=False):
    """The fields of events, for functions that more than one event reaches, those of children included."""

    type: str
    runId: str | None
    cost: float | None
    duration: float | None
    error: object
    reason: WaitingReason | None
    at: int
    message: object
    requestId: str | None
    requests: list[RequestJson]
    retry: bool
    postMerge: bool
