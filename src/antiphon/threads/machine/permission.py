"""The permission machine: a request to make some tool calls, from the question to the answer."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NotRequired, TypedDict, cast

from antiphon.chart.actions import Enqueue, assign, enqueue_actions
from antiphon.chart.machine import Machine
from antiphon.chart.setup import setup
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.edits import Edits, answered_arguments, can_edit, is_denied
from antiphon.threads.machine.permission_rules import (
    TRANSPARENCY,
    AnsweredCall,
    CallRequest,
    JudgedCall,
    Mode,
    Rules,
    Source,
    Transparency,
    Verdict,
    decide,
)
from antiphon.threads.machine.scopes import ONCE, Scope, answer_scopes
from antiphon.tools.access import Access

Outcome = Literal["allowed", "denied", "expired"]


class PermissionContext(TypedDict):
    """The request, the verdict of the rules, and the answer."""

    id: str | None
    calls: list[CallRequest]
    mode: Mode
    rules: Rules
    timeoutMs: int
    reportsToParent: bool
    verdict: Verdict
    decision: Outcome | None
    scope: Scope | None
    outside: bool
    reason: str | None
    # The arguments that a person has changed, by the ids of calls.
    edits: NotRequired[Edits]


class PermissionOutput(TypedDict):
    """The end of a request; only `allowed` allows anything."""

    id: str | None
    decision: Outcome
    by: Source | Literal["person", "nobody"]
    scope: Scope | None
    reason: str | None
    calls: list[AnsweredCall]


class Allow(TypedDict):
    """A person allows the calls, once or by a scope that was offered; `outside` runs commands without the sandbox.

    `arguments` are those that the person has changed, by the ids of calls; such an answer holds once.
    """

    type: Literal["ALLOW"]
    id: NotRequired[str | None]
    scope: NotRequired[Scope | None]
    outside: NotRequired[bool | None]
    reason: NotRequired[str | None]
    arguments: NotRequired[dict[str, dict[str, Any]] | None]


class Deny(TypedDict):
    """A person denies the calls."""

    type: Literal["DENY"]
    id: NotRequired[str | None]
    reason: NotRequired[str | None]


class Expire(TypedDict):
    """The process that would make the calls is gone."""

    type: Literal["EXPIRE"]
    id: NotRequired[str | None]
    reason: NotRequired[str | None]


PermissionEvent = Allow | Deny | Expire


class PermissionFields(TypedDict, total=False):
    """The fields of events, for functions that more than one event reaches; a timer's event has none."""

    id: str | None
    scope: str | None
    outside: bool | None
    reason: str | None
    arguments: Edits | None


class PermissionChanges(TypedDict, total=False):
    """The keys of the context that actions set."""

    decision: Outcome | None
    scope: Scope | None
    outside: bool
    reason: str | None
    edits: Edits


class VerdictParams(TypedDict):
    """The verdict that a transition is for."""

    decision: str
    by: str


class ReasonParams(TypedDict):
    """The reason if the event gives none."""

    reason: str


class OutcomeParams(TypedDict):
    """The outcome that a final state stands for."""

    decision: Outcome


def first_context(input: Mapping[str, Any]) -> PermissionContext:
    """Return the context of a request `{id, calls, mode, rules, timeoutMs}`, judged by the rules."""
    values = {key: input.get(key, default) for key, default in CHART["context"].items()}
    context = cast(PermissionContext, values)
    context["verdict"] = decide(context["calls"], context["mode"], context["rules"])
    return context


def _is_decided(context: PermissionContext, event: PermissionFields, params: VerdictParams) -> bool:
    verdict = context["verdict"]
    return verdict["decision"] == params["decision"] and verdict["by"] == params["by"]


def _is_answer(context: PermissionContext, event: PermissionFields) -> bool:
    """Return whether the event is for this request."""
    return event.get("id") in (None, context["id"])


def _is_allowance(context: PermissionContext, event: PermissionFields) -> bool:
    """Return whether the event names this request, and allows it by something that was offered."""
    calls = context["verdict"]["calls"]
    scope = event.get("scope") or ONCE
    outside = event.get("outside") or False
    if event.get("id") != context["id"] or scope not in answer_scopes(calls):
        return False
    if event.get("arguments") is not None and not (scope == ONCE and _may_edit(context, event["arguments"])):
        return False
    return outside is False or (outside is True and scope == ONCE and _can_run_outside(calls))


def _may_edit(context: PermissionContext, edits: Edits | None) -> bool:
    """Return whether changed arguments are those of calls that are asked about, and no rule denies them."""
    if edits is None or not can_edit(context["verdict"]["calls"], edits):
        return False
    return not is_denied(context["calls"], edits, context["mode"], context["rules"])


def _can_run_outside(calls: Iterable[JudgedCall]) -> bool:
    return any(call["outside"] for call in calls if call["decision"] == "ask")


def _allow(context: PermissionContext, event: Allow) -> PermissionChanges:
    changes: PermissionChanges = {
        "scope": event.get("scope") or "once",
        "outside": event.get("outside") is True,
        "reason": "a person allowed it",
    }
    edits = event.get("arguments")
    return {**changes, "edits": edits, "reason": "a person changed and allowed it"} if edits else changes


def _set_reason(context: PermissionContext, event: PermissionFields, params: ReasonParams) -> PermissionChanges:
    return {"reason": event.get("reason") or params["reason"]}


def _conclude(context: PermissionContext, event: PermissionFields, params: OutcomeParams) -> PermissionChanges:
    return {"decision": params["decision"]}


def _ask_parent(
    context: PermissionContext, event: PermissionFields, enqueue: Enqueue[PermissionContext, PermissionEvent]
) -> None:
    if context["reportsToParent"]:
        enqueue.send_parent(
            {
                "type": "PERMISSION.REQUESTED",
                "id": context["id"],
                "calls": context["verdict"]["calls"],
                "timeoutMs": context["timeoutMs"],
            }
        )


def _timeout_ms(context: PermissionContext) -> int:
    return context["timeoutMs"]


def outcome(context: PermissionContext) -> PermissionOutput:
    """Return how the request ended, with every call and how much of it is shown."""
    verdict = context["verdict"]
    decision = context["decision"]
    assert decision is not None
    was_asked = verdict["decision"] == "ask"
    person: Literal["person", "nobody"] = "nobody" if decision == "expired" else "person"
    edits = context.get("edits", {})
    answered = [
        {
            **call,
            **answered_arguments(call, edits),
            "access": _access(call, context),
            "shown": _transparency(call, decision, was_asked),
        }
        for call in verdict["calls"]
    ]
    calls = cast(list[AnsweredCall], answered)
    return {
        "id": context["id"],
        "decision": decision,
        "by": person if was_asked else verdict["by"],
        "scope": context["scope"],
        "reason": context["reason"] if was_asked else verdict["reason"],
        "calls": calls,
    }


def _access(call: JudgedCall, context: PermissionContext) -> Mapping[str, bool] | None:
    """Return the access of an answered call; a person's answer may take a command that was asked about outside."""
    if context["outside"] and call["outside"] and call["decision"] == "ask":
        return OUTSIDE.to_json()
    return call["access"]


def _transparency(call: JudgedCall, decision: Outcome, was_asked: bool) -> Transparency:
    if decision != "allowed":
        return "refused"
    return "approved" if was_asked else TRANSPARENCY[call["risk"]]


CHART = load_chart(__name__)
OUTSIDE = Access(writes=True, protected=True, network=True, outside=True)
# Each function takes the events that the chart gives it, so the setup itself takes any.
_permissions = setup[PermissionContext, Any](
    guards={"isDecided": _is_decided, "isAnswer": _is_answer, "isAllowance": _is_allowance},
    actions={
        "askParent": enqueue_actions(_ask_parent),
        "allow": assign(_allow),
        "deny": assign(_set_reason),
        "expire": assign(_set_reason),
        "conclude": assign(_conclude),
    },
    delays={"timeout": _timeout_ms},
    events=PermissionEvent,
    public=["ALLOW", "DENY"],
)
permission_machine: Machine[PermissionContext, PermissionEvent] = _permissions.create_machine(
    {**CHART, "context": first_context, "output": outcome}
)
"""Machine of the permission for one call of a tool."""
