"""Types of the tools machine: its context, its output, and the events and reports of its children."""

from typing import Any, Literal, NotRequired, TypedDict

from antiphon.threads.machine.permission import PermissionOutput
from antiphon.threads.machine.permission_rules import CallRequest, ConsentSettings, Mode
from antiphon.threads.machine.scopes import Override

Json = dict[str, Any]


class PermissionRequested(TypedDict):
    """The permission machine asks a person."""

    type: Literal["PERMISSION.REQUESTED"]
    id: str | None
    calls: list[Json]
    timeoutMs: int


class Revoke(TypedDict):
    """A person takes back a permission that lasts; calls that it covered are asked about again."""

    type: Literal["REVOKE"]
    permission: Override
    at: NotRequired[float | None]


class Wait(TypedDict):
    """The report to a parent that a person is asked for permission."""

    type: Literal["wait"]
    reason: str
    id: NotRequired[str]
    address: NotRequired[str]
    calls: NotRequired[list[Json]]
    timeoutMs: NotRequired[int]


class RequestClosed(TypedDict):
    """The report to a parent that the request for permission is closed: it was answered, or it has expired."""

    type: Literal["go_on"]
    id: str | None
    decision: Literal["allowed", "denied", "expired"]


class PermissionRequest(TypedDict):
    """A request for permission, as the approver and people get it."""

    id: str | None
    calls: list[Json]
    timeoutMs: int


class ApproverOutput(TypedDict):
    """The output of the approver: True allows, a text denies with this reason, None asks a person."""

    request: PermissionRequest
    answer: bool | str | None


class ToolsContext(TypedDict):
    """The calls, the settings of their permission, and the results so far."""

    requestId: str | None
    calls: list[CallRequest]
    consent: ConsentSettings
    # The filter of commands of the agent that makes the calls.
    shell: Json | None
    timeoutMs: int
    # The history of the assessment, and whether the consent belongs to it.
    assessed: bool
    history: str | None
    consents: bool
    # The mode that a person gave in the process of the assessment.
    mode: Mode | None
    # The calls that are asked about, those that are to be made, and those that are being made, by their children.
    asked: list[str]
    queue: list[str]
    pending: list[str]
    granted: dict[str, Any]
    offeredAgain: bool
    overrides: list[Override]
    results: dict[str, Json]
    permission: PermissionOutput | None
    request: PermissionRequest | None
    lost: bool


class ToolsChanges(TypedDict, total=False):
    """The keys of the context that actions set."""

    requestId: str | None
    calls: list[CallRequest]
    consent: ConsentSettings
    assessed: bool
    history: str | None
    consents: bool
    mode: Mode | None
    asked: list[str]
    queue: list[str]
    pending: list[str]
    granted: dict[str, Any]
    offeredAgain: bool
    overrides: list[Override]
    results: dict[str, Json]
    permission: PermissionOutput | None
    request: PermissionRequest | None
    lost: bool


class ToolsOutput(TypedDict):
    """A result for every call, in the order of the calls."""

    results: list[Json]
    permission: PermissionOutput | None
    # What a person allowed beyond these calls.
    overrides: list[Override]
    lost: bool


class AssessOutput(TypedDict):
    """An assessment of every call that can be made, and what the edge knows of the history."""

    assessments: list[Json]
    history: str | None
    consents: bool
    mode: Mode | None


class AssessDone(TypedDict):
    """The assessment has ended."""

    output: AssessOutput


class PermissionDone(TypedDict):
    """The permission machine has ended."""

    output: PermissionOutput


class ApproverDone(TypedDict):
    """The approver has ended."""

    output: ApproverOutput


class CallEvent(TypedDict):
    """A call has ended."""

    actorId: str


class CallDone(CallEvent):
    """A call has ended with an output."""

    output: object


class CallFailed(CallEvent):
    """A call has ended with an error."""

    error: object
