"""The tools machine: the tool calls of a reply, from the permission to the results.

1. The calls are assessed first, by a task: its result is in the journal, so a replay depends on no parser, no file and
   no sandbox of the machine where it runs.
2. Permission for all calls of a reply is requested at once, and no call is made before all are allowed.
   Each call is made with the access that its permission granted, and a few of them at a time.
3. A refused call has a result too: the model needs the reason, and every provider wants a result for every call.
   So has a call with a `problem`: it is answered with that, neither judged nor made.
4. Consent belongs to the history in which it was given: of an imported or restored thread, none is left. Requests and
   calls name the history of the assessment, so that no file can answer or make them.
5. A command that failed because its workspace was read-only is asked about once more, and made again if it is allowed.
6. A call that a dead process left behind is *lost*: its effects are unknown, so a person decides how to go on.
   A request that it left behind expires. The child `process` stands for it: it ends when the process does.
7. A person answers the permission machine itself; the parent is told that somebody is asked, and that it is over.
8. A permission that is taken back covers no call that is not allowed yet. If it covered one of an open request, the
   request expires, and another one asks about all calls; calls that were allowed before are made.
"""

from collections.abc import Mapping
from typing import Any, cast

from antiphon.chart.actions import Enqueue, assign, enqueue_actions, send_to, spawn_child, stop_child
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.edits import EDITED, edit_asked, with_note
from antiphon.threads.machine.permission import permission_machine
from antiphon.threads.machine.permission_rules import CallRequest
from antiphon.threads.machine.scopes import Override, add_overrides, scope_overrides
from antiphon.threads.machine.tools_permission import (
    call_of,
    close_request,
    continued_history,
    mode_of,
    must_ask_anew,
    permission_input,
    place_of,
    renew_request,
    revoke,
)
from antiphon.threads.machine.tools_types import (
    ApproverDone,
    AssessDone,
    AssessOutput,
    CallDone,
    CallEvent,
    CallFailed,
    Json,
    PermissionDone,
    PermissionRequest,
    PermissionRequested,
    Revoke,
    ToolsChanges,
    ToolsContext,
    ToolsOutput,
)
from antiphon.tools.assessment import Assessment

PERMISSION = "permission"
APPROVER = "approver"
ASSESS = "assess"
LOST = ("interrupted", "unknown")
AGAIN = "-again"  # the end of the id of a second request for commands that have failed
MOST_AT_ONCE = 8
"""Calls of a reply that are made at the same time."""


def first_context(input: Mapping[str, Any]) -> ToolsContext:
    """Return the context for calls: the input has `requestId`, `calls`, `consent`, `shell` and `timeoutMs`."""
    context = cast(ToolsContext, {key: input.get(key, default) for key, default in CHART["context"].items()})
    return {**context, "results": {**_problem_results(context["calls"]), **context["results"]}}


def _problem_results(calls: list[CallRequest]) -> dict[str, Json]:
    return {
        _child_id(number): _failure(call["id"], call["problem"])
        for number, call in enumerate(calls)
        if "problem" in call
    }


def has_no_calls(context: ToolsContext) -> bool:
    """Return whether there is a call, and every call has a problem."""
    return bool(context["calls"]) and all("problem" in call for call in context["calls"])


def is_assessed(context: ToolsContext) -> bool:
    """Return whether the calls have been assessed."""
    return context["assessed"]


def assess_input(context: ToolsContext) -> Json:
    """Return the input of the assessment: the calls without a problem, and what it depends on."""
    return {
        "calls": [call for call in context["calls"] if "problem" not in call],
        "shell": context["shell"],
    }


def assess_by_risk(input: Mapping[str, Any]) -> AssessOutput:
    """Return assessments of calls of which nothing but the risk of their tools is known."""
    assessments = [Assessment.from_json({"risk": call.get("risk")}).to_json() for call in input["calls"]]
    return {"assessments": assessments, "history": None, "consents": True, "mode": None}


def keep_assessments(context: ToolsContext, event: AssessDone) -> ToolsChanges:
    """Record the assessments; a call that cannot be made gets its problem."""
    output = event["output"]
    assessments = iter(output["assessments"])
    calls = [call if "problem" in call else _with_assessment(call, next(assessments)) for call in context["calls"]]
    history = output["history"]
    request_id = context["requestId"]
    if continued_history(history) is not None and request_id is not None:
        request_id = f"{request_id}.{str(history).rpartition('.')[2]}"
    return {
        "calls": calls,
        "results": {**context["results"], **_problem_results(calls)},
        "assessed": True,
        "history": history,
        "consents": output["consents"],
        "mode": output["mode"],
        "requestId": request_id,
        "asked": [_child_id(number) for number, call in enumerate(calls) if "problem" not in call],
    }


def _with_assessment(call: CallRequest, assessment: Json) -> CallRequest:
    problem: str | None = assessment.get("problem")
    facts = {key: value for key, value in assessment.items() if key != "problem"}
    assessed: CallRequest = {**call, "assessment": facts}
    return assessed if problem is None else {**assessed, "problem": problem}


def refuse_unassessed(context: ToolsContext, event: CallFailed) -> ToolsChanges:
    """Give every call a problem: the assessment failed."""
    message = _error_message(event["error"])[1]
    calls = [
        call if "problem" in call else cast(CallRequest, {**call, "problem": f"not called: {message}"})
        for call in context["calls"]
    ]
    return {"calls": calls, "results": {**context["results"], **_problem_results(calls)}, "assessed": True}


def is_allowed(context: ToolsContext, event: PermissionDone) -> bool:
    """Return whether the calls may be made: this request was allowed, and no other."""
    output = event["output"]
    return output["decision"] == "allowed" and output["id"] == context["requestId"]


def keep_permission(context: ToolsContext, event: PermissionDone) -> ToolsChanges:
    """Record how the request for permission ended, and what was allowed beyond it."""
    output = event["output"]
    changes: ToolsChanges = {"permission": output}
    if output["decision"] == "allowed":
        new = scope_overrides(output["calls"], output["scope"])
        history = continued_history(context["history"])
        stamped = new if history is None else [cast(Override, {**override, "history": history}) for override in new]
        changes["overrides"] = add_overrides(context["overrides"], stamped)
        if any(EDITED in call for call in output["calls"]):
            places = [place_of(id) for id in context["asked"]]
            changes["calls"] = edit_asked(context["calls"], places, output["calls"])
    return changes


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


def _is_lost(permission: Mapping[str, Any]) -> bool:
    return (permission["decision"], permission["reason"]) == ("expired", PROCESS_LOST)


def is_lost_request(permission: Mapping[str, Any] | None) -> bool:
    """Return whether a process was lost while a person was asked about calls, none of which was made before."""
    return permission is not None and _is_lost(permission) and not permission["id"].endswith(AGAIN)


def start_calls(context: ToolsContext, event: PermissionDone, enqueue: Enqueue[ToolsContext, Any]) -> None:
    """Queue the calls that were allowed with the access that was granted, and start the first of them."""
    accesses = [call["access"] for call in event["output"]["calls"]]
    granted = {**context["granted"], **dict(zip(context["asked"], accesses, strict=True))}
    changes: ToolsChanges = {"granted": granted, "pending": list(context["asked"])}
    enqueue.assign(lambda: changes)
    _start(context, context["asked"][:MOST_AT_ONCE], granted, enqueue)
    rest: ToolsChanges = {"queue": context["asked"][MOST_AT_ONCE:]}
    enqueue.assign(lambda: rest)


def _start(
    context: ToolsContext, ids: list[str], granted: Mapping[str, Any], enqueue: Enqueue[ToolsContext, Any]
) -> None:
    for id in ids:
        input = {"call": call_of(context, id), "access": granted[id], "history": context["history"]}
        enqueue.spawn_child("tool", id=id, input=input)


def start_next(context: ToolsContext, event: CallEvent, enqueue: Enqueue[ToolsContext, Any]) -> None:
    """Stop the actor of a call that has ended, and start the next call."""
    enqueue.stop_child(event["actorId"])
    _start(context, context["queue"][:1], context["granted"], enqueue)
    rest: ToolsChanges = {"queue": context["queue"][1:]}
    enqueue.assign(lambda: rest)


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
    return call_of(context, event["actorId"])["id"]


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
        result = with_note(
            {key: value for key, value in output.items() if key != DENIED}, call_of(context, event["actorId"])
        )
        changes = _keep(context, event, {**result, "type": "toolResult", "callId": call_id}, False)
        if output.get(DENIED) not in ("write", "protected"):
            return changes
        number = place_of(event["actorId"])
        denied = cast(CallRequest, {**context["calls"][number], DENIED: output[DENIED]})
        calls = [*context["calls"][:number], denied, *context["calls"][number + 1 :]]
        return {**changes, "calls": calls}
    return _keep(context, event, _failure(call_id, "failed: the tool gave no result"), False)


def keep_failure(context: ToolsContext, event: CallFailed) -> ToolsChanges:
    """Record the error of a call as its result."""
    code, message = _error_message(event["error"])
    text = f"nobody knows how this ended: {message}" if code in LOST else f"failed: {message}"
    return _keep(context, event, _failure(_call_id(context, event), text), code in LOST)


def _error_message(error: object) -> tuple[object, str]:
    if isinstance(error, Mapping):
        return error.get("code"), str(error.get("message"))
    return None, str(error)


def _failure(call_id: str, text: str) -> Json:
    return {"type": "toolResult", "callId": call_id, "parts": [{"type": "text", "text": text}], "isError": True}


def must_offer_again(context: ToolsContext) -> bool:
    """Return whether a command failed because its workspace was read-only, and a person may allow more."""
    may_ask = mode_of(context) != "plan" and not context["offeredAgain"] and not context["lost"]
    return may_ask and not context["pending"] and bool(_denied_calls(context))


def _denied_calls(context: ToolsContext) -> list[str]:
    return [id for id in context["asked"] if DENIED in call_of(context, id)]


def offer_again(context: ToolsContext) -> ToolsChanges:
    """Ask about the commands that failed, by a request of its own."""
    id = context["requestId"]
    return {
        "offeredAgain": True,
        "asked": _denied_calls(context),
        "requestId": None if id is None else f"{id}{AGAIN}",
        "request": None,
    }


def output(context: ToolsContext) -> ToolsOutput:
    """Return a result for every call, in order."""
    results = [context["results"][_child_id(number)] for number in range(len(context["calls"]))]
    return {
        "results": results,
        "permission": context["permission"],
        "overrides": context["overrides"],
        "lost": context["lost"],
    }


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
    enqueue.send_to(PERMISSION, {**decision, "id": event["output"]["request"]["id"]})


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
DENIED = "denied"
_tools = setup[ToolsContext, Any](
    guards={
        "hasNoCalls": has_no_calls,
        "isAssessed": is_assessed,
        "isAllowed": is_allowed,
        "mustAskAnew": must_ask_anew,
        "hasApprover": has_approver,
        "isUndecided": is_undecided,
        "isPending": is_pending,
        "mustOfferAgain": must_offer_again,
        "isAllAnswered": is_all_answered,
    },
    actions={
        "assessCalls": spawn_child(ASSESS, id=ASSESS, input=assess_input),
        "forgetAssessment": stop_child(ASSESS),
        "forgetPermission": stop_child(PERMISSION),
        "keepAssessments": assign(keep_assessments),
        "refuseUnassessed": assign(refuse_unassessed),
        "askPermission": spawn_child(PERMISSION, id=PERMISSION, input=permission_input),
        "keepPermission": assign(keep_permission),
        "revoke": assign(revoke),
        "closeRequest": enqueue_actions(close_request),
        "renewRequest": assign(renew_request),
        "forgetApprover": stop_child(APPROVER),
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
        "startNext": enqueue_actions(start_next),
        "offerAgain": assign(offer_again),
    },
    # The composition provides the actors that assess and approve calls, make a call, and stand for the process.
    actors={
        ASSESS: create_machine(
            {
                "id": ASSESS,
                "initial": "done",
                "states": {"done": {"type": "final"}},
                "context": assess_by_risk,
                "output": lambda context: context,
            }
        ),
        PERMISSION: permission_machine,
        APPROVER: create_machine({"id": "approver"}),
        "tool": create_machine({"id": "tool"}),
        "process": create_machine({"id": "process"}),
    },
    events=PermissionRequested | Revoke,
    public=[],
)
tools_machine: Machine[ToolsContext, Any] = _tools.create_machine({**CHART, "context": first_context, "output": output})
"""Machine of the tool calls of one reply."""
