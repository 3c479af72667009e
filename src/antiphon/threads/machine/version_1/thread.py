"""Version 1 of the thread: answers of people came as RESPOND, and were passed on to the content."""

from collections.abc import Mapping

from antiphon.chart.actions import enqueue_actions
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.former import AnyMachine, Context, Event, Queue, bind_former
from antiphon.threads.machine.thread import content_event, send_to_content, thread_machine


def _tell_content(context: Context, event: Event, enqueue: Queue) -> None:
    answer = event.get("answer")
    if event.get("message") is None and answer is not None:
        request = {**(answer if isinstance(answer, Mapping) else {"text": answer}), "type": "answer"}
        send_to_content(context, request, enqueue)
    else:
        send_to_content(context, content_event(event), enqueue)


thread_machine_1: AnyMachine = bind_former(
    thread_machine, load_chart(__name__), actions={"tellContent": enqueue_actions(_tell_content)}
)
