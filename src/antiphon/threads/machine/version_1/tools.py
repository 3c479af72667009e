"""Version 1 of the tools: answers of people and of the approver came as events, and were passed on."""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.actions import enqueue_actions
from antiphon.chart.machine import Machine
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.former import bind_former
from antiphon.threads.machine.tools import APPROVER, PERMISSION, tools_machine

UNDECIDED = "undecided"
Event = Mapping[str, Any]


def _ask_parent(context: Any, event: Event, enqueue: Any) -> None:
    if _asks_person(context, event):
        request = {key: value for key, value in event.items() if key != UNDECIDED}
        enqueue.send_parent({**request, "type": "wait", "reason": "permission"})
    else:
        enqueue.spawn_child(APPROVER, id=APPROVER, input={"request": dict(event)})


def _watch_process(context: Any, event: Event, enqueue: Any) -> None:
    if _asks_person(context, event):
        enqueue.spawn_child("process", id="process")


def _asks_person(context: Any, event: Event) -> bool:
    return not context["consent"].get(APPROVER) or bool(event.get(UNDECIDED))


def _forward_answer(context: Any, event: Event, enqueue: Any) -> None:
    enqueue.send_to(PERMISSION, dict(event))


tools_machine_1: Machine[Any, Any] = bind_former(
    tools_machine,
    load_chart(__name__),
    actions={
        "askParent": enqueue_actions(_ask_parent),
        "watchProcess": enqueue_actions(_watch_process),
        "forwardAnswer": enqueue_actions(_forward_answer),
    },
)
