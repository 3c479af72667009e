"""An actor's life as lines: for people, or as JSON for programs."""

import json
from collections.abc import Callable
from typing import Any

from antiphon.chart.explore.labels import value_label
from antiphon.chart.nodes import Transition
from antiphon.chart.persist import to_json_error
from antiphon.chart.text import Text
from antiphon.cli.play.feed import Step
from antiphon.cli.render.text_width import clip, harmless, pad

Write = Callable[[str], Any]
WIDEST_VALUE = 40


class PlainLines:
    """One line per step: time, event, where it led, what changed in the context."""

    def __init__(self, write: Write, complain: Write) -> None:
        self._write, self._complain = write, complain
        self._context: dict[str, Any] = {}

    def show(self, step: Step) -> None:
        """Show one more step."""
        before, self._context = self._context, step.snapshot.context
        at, where = f"{step.at_ms / 1000:7.2f} s", state_text(step)
        changed = "  ".join(f"{key}={value_text(value)}" for key, value in _changes(before, self._context))
        found = changed if step.snapshot.error is None else error_text(step)
        self._write(f"{at}  {pad(harmless(step.title), 18)}  {pad(harmless(where), 20)}  {found}".rstrip() + "\n")

    def refresh(self, now_ms: float) -> None:
        """Nothing: lines show no time between steps."""

    def typed(self, problem: str | None) -> None:
        """Say what was wrong with a typed line."""
        if problem is not None:
            self._complain(problem)

    def close(self) -> None:
        """Nothing: lines leave no traces."""


class JsonLines:
    """One JSON object per step."""

    def __init__(self, write: Write, complain: Write) -> None:
        self._write, self._complain = write, complain

    def show(self, step: Step) -> None:
        """Show one more step."""
        snapshot = step.snapshot
        found = {
            "at_ms": round(step.at_ms),
            "event": step.event,
            "transitions": [_transition(transition) for transition in step.transitions],
            "status": snapshot.status,
            "value": snapshot.value,
            "context": snapshot.context,
            "output": snapshot.output,
            "error": snapshot.error,
        }
        present = {key: value for key, value in found.items() if value is not None}
        self._write(json.dumps(present, ensure_ascii=False, default=_plain) + "\n")

    def refresh(self, now_ms: float) -> None:
        """Nothing: lines show no time between steps."""

    def typed(self, problem: str | None) -> None:
        """Say what was wrong with a typed line."""
        if problem is not None:
            self._complain(problem)

    def close(self) -> None:
        """Nothing: lines leave no traces."""


def _transition(transition: Transition) -> dict[str, Any]:
    targets = [node.id for node in transition.targets or ()]
    return {"event": transition.event_type, "source": transition.source.id, "targets": targets}


def state_text(step: Step) -> str:
    """Where a step led, in one line."""
    snapshot = step.snapshot
    ended = "" if snapshot.status == "active" else f" ({snapshot.status})"
    return f"{value_label(snapshot.value)}{ended}"


def error_text(step: Step) -> str:
    """What ended the machine, in one line."""
    error = step.snapshot.error
    return harmless(f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else f"failed: {error}")


def value_text(value: Any) -> str:
    """A value of the context, short; of a long text the end, where it grows."""
    text = json.dumps(value, ensure_ascii=False, default=_plain)
    if len(text) > WIDEST_VALUE and isinstance(value, Text):
        return harmless(f'"…{text[-WIDEST_VALUE + 2 :]}')
    return clip(harmless(text), WIDEST_VALUE)


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in after.items() if key not in before or before[key] is not value]


def _plain(value: Any) -> Any:
    if isinstance(value, BaseException):
        return to_json_error(value)
    if hasattr(value, "send") and hasattr(value, "id"):
        return {"actor": value.id}
    return str(value)
