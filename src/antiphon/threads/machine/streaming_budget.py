"""Spending of a conversation, checked against its budget."""

from typing import Any

from antiphon.chart.actions import Enqueue
from antiphon.threads.machine.streaming_types import StreamingChanges, StreamingContext, StreamingFields

WARNING_SHARE = 0.8


def has_budget(context: StreamingContext) -> bool:
    """Return whether some of the budget is left."""
    budget = context["settings"]["budgetUsd"]
    return budget is None or context["spentUsd"] < budget


def breaks_budget(context: StreamingContext, event: StreamingFields) -> bool:
    """Return whether the running request has exceeded the budget."""
    budget = context["settings"]["budgetUsd"]
    return budget is not None and _spent_usd(context, event) > budget


def record_usage(context: StreamingContext, event: StreamingFields) -> StreamingChanges:
    """Record the usage and the cost of the request so far."""
    return {"usage": event.get("usage", context["usage"]), "spentUsd": _spent_usd(context, event)}


def warn_of_budget(context: StreamingContext, event: StreamingFields, enqueue: Enqueue[StreamingContext, Any]) -> None:
    """Emit a warning, once, when most of the budget is spent."""
    budget = context["settings"]["budgetUsd"]
    spent_usd = context["spentUsd"]
    if budget is not None and not context["budgetWarned"] and spent_usd >= WARNING_SHARE * budget:
        enqueue.assign(_note_warning)
        enqueue.emit({"type": "BUDGET_WARNING", "spentUsd": spent_usd, "budgetUsd": budget})


def _note_warning() -> StreamingChanges:
    return {"budgetWarned": True}


def _spent_usd(context: StreamingContext, event: StreamingFields) -> float:
    """Return the total spent, including the cost of the running request."""
    cost_usd = event.get("costUsd")
    return context["spentUsd"] if cost_usd is None else context["settledUsd"] + cost_usd
