"""The permission machine: a request to make some tool calls, from the question to the answer."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict, cast

from antiphon.chart.actions import Enqueue, assign, enqueue_actions
from antiphon.chart.machine import Machine
from antiphon.chart.setup import setup
from antiphon.threads.machine.charts import load_chart
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

Outcome = Literal["allowed", "denied", "expired"]
Scope = Literal["once", "thread"]


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
    reason: str | None


class PermissionOutput(TypedDict):
    """The end of a request; only `allowed` allows anything."""

    id: str | None
    decision: Outcome
    by: Source | Literal["person", "nobody"]
    scope: Scope | None
    reason: str | None
    calls: list[AnsweredCall]


class Allow(TypedDict):
    """A person allows the calls, once or for the whole thread."""

    type: Literal["ALLOW"]
    id: NotRequired[str]
    scope: NotRequired[Scope]


class Deny(TypedDict):
    """A person denies the calls."""

    type: Literal["DENY"]
    id: NotRequired[str]
    reason: NotRequired[str]


class Expire(TypedDict):
    """The process that would make the calls is gone."""

    type: Literal["EXPIRE"]
    id: NotRequired[str]
    reason: NotRequired[str]


PermissionEvent = Allow | Deny | Expire


class PermissionFields(TypedDict, total=False):
    """The fields of events, for functions that more than one event reaches; a timer's event has none."""

    id: str | None
    scope: str | None
    reason: str | None


class PermissionChanges(TypedDict, total=False):
    """The keys of the context that actions set."""

    decision: Outcome | None
    scope: Scope | None
    reason: str | None


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
    """Return whether the event is for this request and has a valid scope."""
    return event.get("id") in (None, context["id"]) and event.get("scope") in (None, "once", "thread")


def _allow(context: PermissionContext, event: Allow) -> PermissionChanges:
    return {"scope": event.get("scope") or "once", "reason": "a person allowed it"}


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
    calls: list[AnsweredCall] = [
        {**call, "shown": _transparency(call, decision, was_asked)} for call in verdict["calls"]
    ]
    return {
        "id": context["id"],
        "decision": decision,
        "by": person if was_asked else verdict["by"],
        "scope": context["scope"],
        "reason": context["reason"] if was_asked else verdict["reason"],
        "calls": calls,
    }


def _transparency(call: JudgedCall, decision: Outcome, was_asked: bool) -> Transparency:
    if decision != "allowed":
        return "refused"
    return "approved" if was_asked else TRANSPARENCY[call["risk"]]


CHART = load_chart(__name__)
# Each function takes the events that the chart gives it, so the setup itself takes any.
_permissions = setup[PermissionContext, Any](
    guards={"isDecided": _is_decided, "isAnswer": _is_answer},
    actions={
        "askParent": enqueue_actions(_ask_parent),
        "allow": assign(_allow),
        "deny": assign(_set_reason),
        "expire": assign(_set_reason),
        "conclude": assign(_conclude),
    },
    delays={"timeout": _timeout_ms},
)
permission_machine: Machine[PermissionContext, PermissionEvent] = _permissions.create_machine(
    {**CHART, "context": first_context, "output": outcome}
)
"""Machine of the permission for one call of a tool."""
