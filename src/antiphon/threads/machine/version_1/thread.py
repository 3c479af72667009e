"""Version 1 of the thread: answers of people came as RESPOND, and were passed on to the content."""

from collections.abc import Mapping

from antiphon.chart.actions import assign, enqueue_actions
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.former import AnyMachine, Context, Event, Json, Queue, bind_former
from antiphon.threads.machine.thread import content_event, send_to_content, thread_machine


def _tell_content(context: Context, event: Event, enqueue: Queue) -> None:
    answer = event.get("answer")
    if event.get("message") is None and answer is not None:
        request = {**(answer if isinstance(answer, Mapping) else {"text": answer}), "type": "answer"}
        send_to_content(context, request, enqueue)
    else:
        send_to_content(context, content_event(event), enqueue)


def _note_end(context: Context, event: Event) -> Json:
    return {"completedAt": event.get("at")}


thread_machine_1: AnyMachine = bind_former(
    thread_machine,
    load_chart(__name__),
    actions={"tellContent": enqueue_actions(_tell_content), "noteEnd": assign(_note_end)},
)
