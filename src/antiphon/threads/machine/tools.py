"""The tools machine: what a reply asks for, from the permission to the results.

1. All calls of a reply are asked for together, and nothing is called before all of them may be.
2. A refused call has a result too: the model must hear why, and every provider wants a result for every call.
3. A call that a dead process left behind is *lost*: nobody knows what it did, so nobody goes on by himself.
   A request that it left behind expires. The child `process` stands for it: it ends when the process does.
"""

from collections.abc import Mapping
from typing import Any, TypedDict

from antiphon.chart.actions import Enqueue, assign, enqueue_actions, send_to, spawn_child, stop_child
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.permission import permission_machine

Event = Mapping[str, Any]
Json = dict[str, Any]
PERMISSION = "permission"
LOST = ("interrupted", "unknown")
ANSWERS = ("ALLOW", "DENY", "EXPIRE")


class ToolsContext(TypedDict):
    """What is known of the calls."""

    requestId: str | None
    calls: list[Json]
    consent: Json
    timeoutMs: int
    pending: list[str]
    results: dict[str, Json]
    permission: Json | None
    lost: bool


class ToolsOutput(TypedDict):
    """A result for every call, in the order of the calls."""

    results: list[Json]
    permission: Json | None
    lost: bool


def first_context(input: Mapping[str, Any]) -> ToolsContext:
    """The context of some calls: the input has `requestId`, `calls`, `consent` and `timeoutMs`."""
    known: Any = {key: input.get(key, first) for key, first in CHART["context"].items()}
    context: ToolsContext = known
    return context


def permission_input(context: ToolsContext) -> Json:
    """The request for all calls."""
    consent = context["consent"]
    return {
        "id": context["requestId"],
        "calls": context["calls"],
        "mode": consent.get("mode", "ask"),
        "rules": {key: consent.get(key, []) for key in ("blocked", "tripped", "overrides", "autoAllow")},
        "timeoutMs": context["timeoutMs"],
        "reportsToParent": True,
    }


def is_allowed(context: ToolsContext, event: Event) -> bool:
    """Whether the calls may be made."""
    return bool(event["output"]["decision"] == "allowed")


def refuse_calls(context: ToolsContext, event: Event) -> Json:
    """A result for every call that says why it was not made."""
    permission = context["permission"]
    reason = permission["reason"] if permission else "the request for permission failed"
    calls = enumerate(context["calls"])
    shown = {_child(number): _failure(call["id"], f"not allowed: {reason}") for number, call in calls}
    return {"results": shown, "lost": permission is not None and _is_lost(permission)}


def _is_lost(permission: Json) -> bool:
    return bool(permission["decision"] == "expired" and permission["reason"] == PROCESS_LOST)


def start_calls(context: ToolsContext, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Start a task for every call."""
    for number, call in enumerate(context["calls"]):
        enqueue.spawn_child("tool", id=_child(number), input={"call": call})
    enqueue.assign({"pending": [_child(number) for number in range(len(context["calls"]))]})


def _child(number: int) -> str:
    # By place and not by the call's id: a model may give the same id twice.
    return f"call-{number}"


def is_pending(context: ToolsContext, event: Event) -> bool:
    """Whether an event is about a call without a result."""
    return event["actorId"] in context["pending"]


def _call_of(context: ToolsContext, event: Event) -> str:
    id: str = context["calls"][int(event["actorId"].removeprefix("call-"))]["id"]
    return id


def _answered(context: ToolsContext, event: Event, result: Json, lost: bool) -> Json:
    return {
        "results": {**context["results"], event["actorId"]: result},
        "pending": [id for id in context["pending"] if id != event["actorId"]],
        "lost": context["lost"] or lost,
    }


def keep_result(context: ToolsContext, event: Event) -> Json:
    """What a tool gave; only a result is one."""
    call, output = _call_of(context, event), event["output"]
    if isinstance(output, Mapping) and isinstance(output.get("parts"), list):
        return _answered(context, event, {**output, "type": "toolResult", "callId": call}, False)
    return _answered(context, event, _failure(call, "failed: the tool gave no result"), False)


def keep_failure(context: ToolsContext, event: Event) -> Json:
    """Why a tool gave nothing."""
    error = event["error"]
    code = error.get("code") if isinstance(error, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else str(error)
    text = f"nobody knows how this ended: {message}" if code in LOST else f"failed: {message}"
    return _answered(context, event, _failure(_call_of(context, event), text), code in LOST)


def _failure(call: str, text: str) -> Json:
    return {"type": "toolResult", "callId": call, "parts": [{"type": "text", "text": text}], "isError": True}


def output(context: ToolsContext) -> ToolsOutput:
    """A result for every call, in order."""
    results = [context["results"][_child(number)] for number in range(len(context["calls"]))]
    return {"results": results, "permission": context["permission"], "lost": context["lost"]}


def ask_parent(context: ToolsContext, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Tell the parent that a person is asked, and what about."""
    enqueue.send_parent({**event, "type": "wait", "reason": "permission"})


def forward_answer(context: ToolsContext, event: Event, enqueue: Enqueue[Any, Any]) -> None:
    """Give a person's answer to the request."""
    enqueue.send_to(PERMISSION, dict(event))


CHART = load_chart(__name__)
PROCESS_LOST = "the process that asked is gone"
_tools = setup[ToolsContext, Any](
    guards={
        "isAllowed": is_allowed,
        "isPending": is_pending,
        "isAllAnswered": lambda context: not context["pending"],
    },
    actions={
        "askPermission": spawn_child(PERMISSION, id=PERMISSION, input=permission_input),
        "keepPermission": assign({"permission": lambda context, event: event["output"]}),
        "refuseCalls": assign(refuse_calls),
        "askParent": enqueue_actions(ask_parent),
        "forwardAnswer": enqueue_actions(forward_answer),
        "watchProcess": spawn_child("process", id="process"),
        "forgetProcess": stop_child("process"),
        "expirePermission": send_to(PERMISSION, {"type": "EXPIRE"}),
        "startCalls": enqueue_actions(start_calls),
        "keepResult": assign(keep_result),
        "keepFailure": assign(keep_failure),
        "letGo": enqueue_actions(lambda context, event, enqueue: enqueue.stop_child(event["actorId"])),
    },
    # Whatever makes a call, and the process that asks, are provided by a composition.
    actors={
        PERMISSION: permission_machine,
        "tool": create_machine({"id": "tool"}),
        "process": create_machine({"id": "process"}),
    },
)
tools_machine: Machine[ToolsContext, Any] = _tools.create_machine({**CHART, "context": first_context, "output": output})
"""Machine of the tool calls of one reply."""
