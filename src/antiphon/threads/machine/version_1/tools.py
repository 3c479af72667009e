"""Version 1 of the tools: answers of people and of the approver came as events, and were passed on."""

from antiphon.chart.actions import enqueue_actions
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.former import AnyMachine, Context, Event, Queue, bind_former
from antiphon.threads.machine.tools import APPROVER, PERMISSION, tools_machine

UNDECIDED = "undecided"


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
    load_chart(__name__),
    actions={
        "askParent": enqueue_actions(_ask_parent),
        "watchProcess": enqueue_actions(_watch_process),
        "forwardAnswer": enqueue_actions(_forward_answer),
    },
)
