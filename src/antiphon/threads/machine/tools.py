"""The tools machine: the tool calls of a reply, from the permission to the results.

1. Permission for all calls of a reply is requested at once, and no call is made before all are allowed.
2. A refused call has a result too: the model needs the reason, and every provider wants a result for every call.
   So has a call with a `problem`: it is answered with that, neither judged nor made.
3. A call that a dead process left behind is *lost*: its effects are unknown, so a person decides how to go on.
   A request that it left behind expires. The child `process` stands for it: it ends when the process does.
4. A person answers the permission machine itself; the parent is told that somebody is asked, and that it is over.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict, cast

from antiphon.chart.actions import Enqueue, assign, enqueue_actions, send_to, spawn_child, stop_child
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.permission import PermissionOutput, permission_machine
from antiphon.threads.machine.permission_rules import CallRequest, ConsentSettings

Json = dict[str, Any]
PERMISSION = "permission"
APPROVER = "approver"
LOST = ("interrupted", "unknown")


class PermissionRequested(TypedDict):
    """The permission machine asks a person."""

    type: Literal["PERMISSION.REQUESTED"]
    id: str | None
    calls: list[Json]
    timeoutMs: int


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
    timeoutMs: int
    pending: list[str]
    results: dict[str, Json]
    permission: PermissionOutput | None
    request: PermissionRequest | None
    lost: bool


class ToolsChanges(TypedDict, total=False):
    """The keys of the context that actions set."""

    pending: list[str]
    results: dict[str, Json]
    permission: PermissionOutput | None
    request: PermissionRequest | None
    lost: bool


class ToolsOutput(TypedDict):
    """A result for every call, in the order of the calls."""

    results: list[Json]
    permission: PermissionOutput | None
    lost: bool


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


def first_context(input: Mapping[str, Any]) -> ToolsContext:
    """Return the context for calls: the input has `requestId`, `calls`, `consent` and `timeoutMs`."""
    context = cast(ToolsContext, {key: input.get(key, default) for key, default in CHART["context"].items()})
    calls = enumerate(context["calls"])
    answered = {_child_id(number): _failure(call["id"], call["problem"]) for number, call in calls if "problem" in call}
    return {**context, "results": {**answered, **context["results"]}}


def has_no_calls(context: ToolsContext) -> bool:
    """Return whether there is a call, and every call has a problem."""
    return bool(context["calls"]) and all("problem" in call for call in context["calls"])


def permission_input(context: ToolsContext) -> Json:
    """Return the input of the permission machine, for all calls."""
    consent = context["consent"]
    return {
        "id": context["requestId"],
        "calls": [call for call in context["calls"] if "problem" not in call],
        "mode": consent.get("mode", "ask"),
        "rules": {
            "blocked": consent.get("blocked", []),
            "tripped": consent.get("tripped", []),
            "overrides": consent.get("overrides", []),
            "autoAllow": consent.get("autoAllow", []),
        },
        "timeoutMs": context["timeoutMs"],
        "reportsToParent": True,
    }


def is_allowed(context: ToolsContext, event: PermissionDone) -> bool:
    """Return whether the calls may be made."""
    return event["output"]["decision"] == "allowed"


def keep_permission(context: ToolsContext, event: PermissionDone) -> ToolsChanges:
    """Record how the request for permission ended."""
    return {"permission": event["output"]}


def refuse_calls(context: ToolsContext) -> ToolsChanges:
    """Give every call a result with the reason of the refusal."""
    permission = context["permission"]
    reason = permission["reason"] if permission else "the request for permission failed"
    refused = {
        _child_id(number): _failure(call["id"], f"not allowed: {reason}")
        for number, call in enumerate(context["calls"])
    }
    results = {**refused, **context["results"]}
    return {"results": results, "lost": permission is not None and _is_lost(permission)}


def _is_lost(permission: PermissionOutput) -> bool:
    return permission["decision"] == "expired" and permission["reason"] == PROCESS_LOST


def start_calls(context: ToolsContext, event: CallEvent, enqueue: Enqueue[ToolsContext, Any]) -> None:
    """Start a task for every call that can be made."""
    calls = {_child_id(number): call for number, call in enumerate(context["calls"]) if "problem" not in call}
    for id, call in calls.items():
        enqueue.spawn_child("tool", id=id, input={"call": call})
    started: ToolsChanges = {"pending": list(calls)}
    enqueue.assign(lambda: started)


def _child_id(number: int) -> str:
    # By place and not by the call's id: a model may give the same id twice.
    return f"call-{number}"


def is_pending(context: ToolsContext, event: CallEvent) -> bool:
    """Return whether an event is about a call without a result."""
    return event["actorId"] in context["pending"]


def is_all_answered(context: ToolsContext) -> bool:
    """Return whether every call has its result."""
    return not context["pending"]


def _call_id(context: ToolsContext, event: CallEvent) -> str:
    return context["calls"][int(event["actorId"].removeprefix("call-"))]["id"]


def _keep(context: ToolsContext, event: CallEvent, result: Json, lost: bool) -> ToolsChanges:
    return {
        "results": {**context["results"], event["actorId"]: result},
        "pending": [id for id in context["pending"] if id != event["actorId"]],
        "lost": context["lost"] or lost,
    }


def keep_result(context: ToolsContext, event: CallDone) -> ToolsChanges:
    """Record the result of a call; an output of another shape is a failure."""
    call_id = _call_id(context, event)
    output = event["output"]
    if isinstance(output, Mapping) and isinstance(output.get("parts"), list):
        return _keep(context, event, {**output, "type": "toolResult", "callId": call_id}, False)
    return _keep(context, event, _failure(call_id, "failed: the tool gave no result"), False)


def keep_failure(context: ToolsContext, event: CallFailed) -> ToolsChanges:
    """Record the error of a call as its result."""
    error = event["error"]
    code: object = error.get("code") if isinstance(error, Mapping) else None
    message: object = error.get("message") if isinstance(error, Mapping) else str(error)
    text = f"nobody knows how this ended: {message}" if code in LOST else f"failed: {message}"
    return _keep(context, event, _failure(_call_id(context, event), text), code in LOST)


def _failure(call_id: str, text: str) -> Json:
    return {"type": "toolResult", "callId": call_id, "parts": [{"type": "text", "text": text}], "isError": True}


def let_go(context: ToolsContext, event: CallEvent, enqueue: Enqueue[ToolsContext, Any]) -> None:
    """Stop the actor of a call that has ended."""
    enqueue.stop_child(event["actorId"])


def output(context: ToolsContext) -> ToolsOutput:
    """Return a result for every call, in order."""
    results = [context["results"][_child_id(number)] for number in range(len(context["calls"]))]
    return {"results": results, "permission": context["permission"], "lost": context["lost"]}


def has_approver(context: ToolsContext) -> bool:
    """Return whether a function is asked before a person."""
    return bool(context["consent"].get(APPROVER))


def ask_approver(context: ToolsContext, event: PermissionRequested, enqueue: Enqueue[ToolsContext, Any]) -> None:
    """Ask the approver."""
    enqueue.spawn_child(APPROVER, id=APPROVER, input={"request": _request(event)})


def is_undecided(context: ToolsContext, event: ApproverDone) -> bool:
    """Return whether the approver leaves the question to a person."""
    return event["output"]["answer"] is None


def apply_approval(context: ToolsContext, event: ApproverDone, enqueue: Enqueue[ToolsContext, Any]) -> None:
    """Send the decision of the approver to the permission machine."""
    answer = event["output"]["answer"]
    decision: Json = {"type": "ALLOW"} if answer is True else {"type": "DENY", "reason": answer}
    enqueue.send_to(PERMISSION, {**decision, "id": context["requestId"]})


def ask_parent(
    context: ToolsContext, event: PermissionRequested | ApproverDone, enqueue: Enqueue[ToolsContext, Any]
) -> None:
    """Report to the parent that a person is asked; the permission machine takes the answer."""
    request = _request(event)
    changes: ToolsChanges = {"request": request}
    enqueue.assign(lambda: changes)
    enqueue.send_parent({"type": "wait", "reason": PERMISSION, **request, "address": PERMISSION})


def _request(event: Mapping[str, Any]) -> PermissionRequest:
    """Return the request in an event of the permission machine, or in the output of the approver."""
    asked = event["output"]["request"] if "output" in event else event
    return {"id": asked["id"], "calls": asked["calls"], "timeoutMs": asked["timeoutMs"]}


def go_on(context: ToolsContext, event: Mapping[str, object], enqueue: Enqueue[ToolsContext, Any]) -> None:
    """Report to the parent that the request is closed, unless nobody was asked or it was lost with its process."""
    if context["request"] is not None and not context["lost"]:
        permission = context["permission"]
        decision = permission["decision"] if permission else "denied"
        enqueue.send_parent({"type": "go_on", "id": context["requestId"], "decision": decision})


CHART = load_chart(__name__)
PROCESS_LOST = "the process that asked is gone"
_tools = setup[ToolsContext, Any](
    guards={
        "hasNoCalls": has_no_calls,
        "isAllowed": is_allowed,
        "hasApprover": has_approver,
        "isUndecided": is_undecided,
        "isPending": is_pending,
        "isAllAnswered": is_all_answered,
    },
    actions={
        "askPermission": spawn_child(PERMISSION, id=PERMISSION, input=permission_input),
        "keepPermission": assign(keep_permission),
        "refuseCalls": assign(refuse_calls),
        "askParent": enqueue_actions(ask_parent),
        "askApprover": enqueue_actions(ask_approver),
        "applyApproval": enqueue_actions(apply_approval),
        "goOn": enqueue_actions(go_on),
        "watchProcess": spawn_child("process", id="process"),
        "forgetProcess": stop_child("process"),
        "expirePermission": send_to(PERMISSION, {"type": "EXPIRE"}),
        "startCalls": enqueue_actions(start_calls),
        "keepResult": assign(keep_result),
        "keepFailure": assign(keep_failure),
        "letGo": enqueue_actions(let_go),
    },
    # The composition provides the actors that approve calls, make a call, and stand for the process.
    actors={
        PERMISSION: permission_machine,
        APPROVER: create_machine({"id": "approver"}),
        "tool": create_machine({"id": "tool"}),
        "process": create_machine({"id": "process"}),
    },
    events=PermissionRequested,
    public=[],
)
tools_machine: Machine[ToolsContext, Any] = _tools.create_machine({**CHART, "context": first_context, "output": output})
"""Machine of the tool calls of one reply."""
