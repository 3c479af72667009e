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
    Call,
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
    """What a request knows."""

    id: str | None
    calls: list[Call]
    mode: Mode
    rules: Rules
    timeoutMs: int
    reportsToParent: bool
    verdict: Verdict
    decision: Outcome | None
    scope: Scope | None
    reason: str | None


class PermissionOutput(TypedDict):
    """How a request ended; only `allowed` allows anything."""

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
    """Nobody is left who would make the calls."""

    type: Literal["EXPIRE"]
    id: NotRequired[str]
    reason: NotRequired[str]


PermissionEvent = Allow | Deny | Expire
_Event = Mapping[str, Any]  # a function may see the events of timers too


def first_context(input: Mapping[str, Any]) -> PermissionContext:
    """The context of a request, judged by the rules: its input is `{id, calls, mode, rules, timeoutMs}`."""
    known = {key: input.get(key, first) for key, first in CHART["context"].items()}
    return cast(PermissionContext, {**known, "verdict": decide(known["calls"], known["mode"], known["rules"])})


def _is_decided(context: PermissionContext, event: _Event, params: Mapping[str, str]) -> bool:
    verdict = context["verdict"]
    return verdict["decision"] == params["decision"] and verdict["by"] == params["by"]


def _is_answer(context: PermissionContext, event: _Event) -> bool:
    """Whether the event is about this request, and says something that can be meant."""
    return event.get("id") in (None, context["id"]) and event.get("scope") in (None, "once", "thread")


def _reason(context: PermissionContext, event: _Event, params: Mapping[str, str]) -> str:
    return event.get("reason") or params["reason"]


def _ask_parent(context: PermissionContext, event: _Event, enqueue: Enqueue[Any, Any]) -> None:
    if context["reportsToParent"]:
        shown = {"id": context["id"], "calls": context["verdict"]["calls"], "timeoutMs": context["timeoutMs"]}
        enqueue.send_parent({"type": "PERMISSION.REQUESTED", **shown})


def outcome(context: PermissionContext) -> PermissionOutput:
    """How the request ended, with every call and how much of it is shown."""
    verdict, decision = context["verdict"], cast(Outcome, context["decision"])
    asked = verdict["decision"] == "ask"
    by: Any = verdict["by"] if not asked else "nobody" if decision == "expired" else "person"
    calls = [cast(AnsweredCall, {**call, "shown": _shown(call, decision, asked)}) for call in verdict["calls"]]
    reason = context["reason"] if asked else verdict["reason"]
    return {
        "id": context["id"], "decision": decision, "by": by, "scope": context["scope"], "reason": reason,
        "calls": calls,
    }  # fmt: skip


def _shown(call: JudgedCall, decision: Outcome, asked: bool) -> Transparency:
    if decision != "allowed":
        return "refused"
    return "approved" if asked else TRANSPARENCY[call["risk"]]


CHART = load_chart(__name__)
_permissions = setup[PermissionContext, PermissionEvent](
    guards={"isDecided": _is_decided, "isAnswer": _is_answer},
    actions={
        "askParent": enqueue_actions(_ask_parent),
        "allow": assign(
            {"scope": lambda context, event: event.get("scope") or "once", "reason": "a person allowed it"}
        ),
        "deny": assign({"reason": _reason}),
        "expire": assign({"reason": _reason}),
        "conclude": assign({"decision": lambda context, event, params: params["decision"]}),
    },
    delays={"timeout": lambda context: context["timeoutMs"]},
)
permission_machine: Machine[PermissionContext, PermissionEvent] = _permissions.create_machine(
    {**CHART, "context": first_context, "output": outcome}
)
"""Machine of the permission for one call of a tool."""
