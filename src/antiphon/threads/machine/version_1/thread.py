"""Version 1 of the thread: answers of people came as RESPOND, and were passed on to the content."""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.actions import enqueue_actions
from antiphon.chart.machine import Machine
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.former import bind_former
from antiphon.threads.machine.thread import content_event, send_to_content, thread_machine


def _tell_content(context: Any, event: Mapping[str, Any], enqueue: Any) -> None:
    answer = event.get("answer")
    if event.get("message") is None and answer is not None:
        request = {**(answer if isinstance(answer, Mapping) else {"text": answer}), "type": "answer"}
        send_to_content(context, request, enqueue)
    else:
        send_to_content(context, content_event(event), enqueue)  # type: ignore[arg-type]


thread_machine_1: Machine[Any, Any] = bind_former(
    thread_machine, load_chart(__name__), actions={"tellContent": enqueue_actions(_tell_content)}
)
