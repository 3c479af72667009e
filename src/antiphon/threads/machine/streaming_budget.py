"""What a conversation has spent, and what it may spend."""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.actions import Enqueue
from antiphon.threads.machine.streaming_types import StreamingContext, StreamingEvent

Event = Mapping[str, Any]
WARNING_SHARE = 0.8


def has_budget(context: StreamingContext) -> bool:
    """Whether there is anything left to spend."""
    budget = context["settings"]["budgetUsd"]
    return budget is None or context["spentUsd"] < budget


def breaks_budget(context: StreamingContext, event: Event) -> bool:
    """Whether a request has become dearer than the budget allows."""
    budget = context["settings"]["budgetUsd"]
    return budget is not None and _spent(context, event) > budget


def record_usage(context: StreamingContext, event: Event) -> dict[str, Any]:
    """Note what the request has used and cost so far."""
    return {"usage": event.get("usage", context["usage"]), "spentUsd": _spent(context, event)}


def warn_of_budget(context: StreamingContext, event: Event, enqueue: Enqueue[StreamingContext, StreamingEvent]) -> None:
    """Say once that most of the budget is spent."""
    budget, spent = context["settings"]["budgetUsd"], context["spentUsd"]
    if budget is not None and not context["budgetWarned"] and spent >= WARNING_SHARE * budget:
        enqueue.assign({"budgetWarned": True})
        enqueue.emit({"type": "BUDGET_WARNING", "spentUsd": spent, "budgetUsd": budget})


def _spent(context: StreamingContext, event: Event) -> float:
    """All that was spent, with what this request has cost so far."""
    cost: float | None = event.get("costUsd")
    return context["spentUsd"] if cost is None else context["settledUsd"] + cost
