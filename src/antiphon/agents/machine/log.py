"""Log lines of a run: each has a severity, is emitted, and is kept for the record."""

from collections.abc import Callable
from typing import Any, Literal, cast

from antiphon.agents.machine.context import LogLine, OrchestratorContext, OrchestratorEnqueue, OrchestratorUpdate
from antiphon.agents.machine.results import Json
from antiphon.chart.actions import BoundAction, enqueue_actions

Severity = Literal["info", "warning", "error"]
PREFIX = "[rawko] "
MOST_LINES = 100
LONGEST_LINE = 300


def line(type: str, text: str, severity: Severity = "info", **facts: object) -> Json:
    """Return a line for people, with its severity and the facts behind it."""
    return {"type": type, "text": f"{PREFIX}{text}", "severity": severity, **facts}


def write_line(context: OrchestratorContext, enqueue: OrchestratorEnqueue, event: Json) -> None:
    """Emit a line, and keep it; of many lines, the last ones."""
    enqueue.emit(event)
    text = str(event["text"]).removeprefix(PREFIX)
    short = text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…"
    entry: LogLine = {"at": context["now"], "severity": cast(Severity, event["severity"]), "text": short}
    enqueue.assign(OrchestratorUpdate(log=[*context["log"], entry][-MOST_LINES:]))


def log(report: Callable[[OrchestratorContext], Json]) -> BoundAction[OrchestratorContext, Any]:
    """Return the action that writes a line."""

    def write(context: OrchestratorContext, event: Json, enqueue: OrchestratorEnqueue) -> None:
        write_line(context, enqueue, report(context))

    return enqueue_actions(write)
