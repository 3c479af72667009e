"""The steps of an actor as lines of text or as JSON Lines."""

import json
from collections.abc import Callable
from typing import Any

from antiphon.chart.explore.labels import value_label
from antiphon.chart.nodes import Transition
from antiphon.chart.persist import to_json_error
from antiphon.chart.text import GrowingText
from antiphon.cli.play.feed import PlayedStep
from antiphon.cli.render.text_width import clip, pad, sanitize_line

Write = Callable[[str], Any]
WIDEST_VALUE = 40


class PlainLines:
    """One line per step: time, event, state, and changes of the context."""

    def __init__(self, write: Write, report: Write) -> None:
        self._write = write
        self._report = report
        self._context: dict[str, Any] = {}

    def show(self, step: PlayedStep) -> None:
        """Write a step."""
        changes = _changes(self._context, step.snapshot.live_context)
        self._context = step.snapshot.live_context
        at = f"{step.at_ms / 1000:7.2f} s"
        changed = "  ".join(f"{key}={value_text(value)}" for key, value in changes)
        details = changed if step.snapshot.error is None else error_text(step)
        event = pad(sanitize_line(step.title), 18)
        state = pad(sanitize_line(state_text(step)), 20)
        self._write(f"{at}  {event}  {state}  {details}".rstrip() + "\n")

    def refresh(self, now_ms: float) -> None:
        """Do nothing: lines show no time between steps."""

    def on_line(self, problem: str | None) -> None:
        """Report the problem of a typed line."""
        if problem is not None:
            self._report(problem)

    def close(self) -> None:
        """Do nothing: there is no terminal state."""


class JsonLines:
    """One JSON object per step."""

    def __init__(self, write: Write, report: Write) -> None:
        self._write = write
        self._report = report

    def show(self, step: PlayedStep) -> None:
        """Write a step."""
        snapshot = step.snapshot
        fields = {
            "at_ms": round(step.at_ms),
            "event": step.event,
            "transitions": [_transition(transition) for transition in step.transitions],
            "status": snapshot.status,
            "value": snapshot.value,
            "context": snapshot.context,
            "output": snapshot.output,
            "error": snapshot.error,
        }
        present = {key: value for key, value in fields.items() if value is not None}
        self._write(json.dumps(present, ensure_ascii=False, default=_plain) + "\n")

    def refresh(self, now_ms: float) -> None:
        """Do nothing: lines show no time between steps."""

    def on_line(self, problem: str | None) -> None:
        """Report the problem of a typed line."""
        if problem is not None:
            self._report(problem)

    def close(self) -> None:
        """Do nothing: there is no terminal state."""


def _transition(transition: Transition) -> dict[str, Any]:
    targets = [node.id for node in transition.targets or ()]
    return {"event": transition.event_type, "source": transition.source.id, "targets": targets}


def state_text(step: PlayedStep) -> str:
    """Format the state after a step as one line."""
    snapshot = step.snapshot
    status = "" if snapshot.status == "active" else f" ({snapshot.status})"
    return f"{value_label(snapshot.value)}{status}"


def error_text(step: PlayedStep) -> str:
    """Format the error that ended the machine as one line."""
    error = step.snapshot.error
    return sanitize_line(f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else f"failed: {error}")


def value_text(value: Any) -> str:
    """Format a value of the context, clipped; of a streamed text the end is kept."""
    text = json.dumps(value, ensure_ascii=False, default=_plain)
    if len(text) > WIDEST_VALUE and isinstance(value, GrowingText):
        return sanitize_line(f'"…{text[-WIDEST_VALUE + 2 :]}')
    return clip(sanitize_line(text), WIDEST_VALUE)


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in after.items() if key not in before or before[key] is not value]


def _plain(value: Any) -> Any:
    if isinstance(value, BaseException):
        return to_json_error(value)
    if hasattr(value, "send") and hasattr(value, "id"):
        return {"actor": value.id}
    return str(value)
