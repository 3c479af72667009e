"""Version 1 of the tools: answers of people and of the approver came as events, and were passed on.

The calls came with their risks, and all of them were made at once, without an access.
"""

from antiphon.chart.actions import assign, enqueue_actions, spawn_child
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.former import AnyMachine, Context, Event, Json, Queue, bind_former
from antiphon.threads.machine.tools import APPROVER, ASSESS, PERMISSION, tools_machine
from antiphon.threads.machine.version_1.permission import permission_machine_1

CHART = load_chart(__name__)
UNDECIDED = "undecided"


def _context(input: Json) -> Json:
    return {key: input.get(key, default) for key, default in CHART["context"].items()}


def _permission_input(context: Context) -> Json:
    consent = context["consent"]
    return {
        "id": context["requestId"],
        "calls": context["calls"],
        "mode": consent.get("mode", "ask"),
        "rules": {name: consent.get(name, []) for name in ("blocked", "tripped", "overrides", "autoAllow")},
        "timeoutMs": context["timeoutMs"],
        "reportsToParent": True,
    }


def _is_allowed(context: Context, event: Event) -> bool:
    return bool(event["output"]["decision"] == "allowed")


def _keep_permission(context: Context, event: Event) -> Json:
    return {"permission": event["output"]}


def _start_calls(context: Context, event: Event, enqueue: Queue) -> None:
    ids = [f"call-{number}" for number in range(len(context["calls"]))]
    for id, call in zip(ids, context["calls"], strict=True):
        enqueue.spawn_child("tool", id=id, input={"call": call})
    enqueue.assign({"pending": ids})


def _let_go(context: Context, event: Event, enqueue: Queue) -> None:
    enqueue.stop_child(event["actorId"])


def _output(context: Context) -> Json:
    results = [context["results"][f"call-{number}"] for number in range(len(context["calls"]))]
    return {"results": results, "permission": context["permission"], "lost": context["lost"]}


def _ask_parent(context: Context, event: Event, enqueue: Queue) -> None:
    if _asks_person(context, event):
        request = {key: value for key, value in event.items() if key != UNDECIDED}
        enqueue.send_parent({**request, "type": "wait", "reason": "permission"})
    else:
        enqueue.spawn_child(APPROVER, id=APPROVER, input={"request": dict(event)})


def _watch_process(context: Context, event: Event, enqueue: Queue) -> None:
    if _asks_person(context, event):
        enqueue.spawn_child("process", id="process")


def _asks_person(context: Context, event: Event) -> bool:
    return not context["consent"].get(APPROVER) or bool(event.get(UNDECIDED))


def _forward_answer(context: Context, event: Event, enqueue: Queue) -> None:
    enqueue.send_to(PERMISSION, dict(event))


tools_machine_1: AnyMachine = bind_former(
    tools_machine,
    CHART,
    actions={
        "askPermission": spawn_child(PERMISSION, id=PERMISSION, input=_permission_input),
        "keepPermission": assign(_keep_permission),
        "startCalls": enqueue_actions(_start_calls),
        "letGo": enqueue_actions(_let_go),
        "askParent": enqueue_actions(_ask_parent),
        "watchProcess": enqueue_actions(_watch_process),
        "forwardAnswer": enqueue_actions(_forward_answer),
    },
    guards={"isAllowed": _is_allowed},
    actors={PERMISSION: permission_machine_1, ASSESS: None},
    context=_context,
    output=_output,
)
