"""The budget of a debate: warnings about costs, and the limit."""

from antiphon.debate.machine import ledger
from antiphon.debate.machine.context import CostWarning, DebateContext, DebateUpdate
from antiphon.debate.machine.events import AnyEvent, LimitFields, Warned
from antiphon.debate.machine.replies import DebateEnqueue


def setup_cost_tracking(context: DebateContext) -> DebateUpdate:
    """Set the limits of the configuration."""
    return {"costTracker": ledger.with_limits(context["config"], context["costTracker"])}


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def raises_limit(context: DebateContext, event: LimitFields) -> bool:
    """Return whether a new limit is above the costs so far."""
    limit = _number(event.get("costLimit"))
    if limit is None or not context["config"]:
        return False
    return ledger.amount(limit) > ledger.amount(context["costTracker"]["totalCost"])


def is_out_of_money(context: DebateContext, event: LimitFields) -> bool:
    """Return whether the debate stopped at its limit, and the event raises it."""
    error = context["lastError"]
    return error is not None and error["type"] == "cost_limit" and raises_limit(context, event)


def raise_limit(context: DebateContext, event: LimitFields) -> DebateUpdate:
    """Raise the cost limit."""
    config = context["config"].copy()
    config["costLimit"] = _number(event.get("costLimit"))
    tracker = ledger.with_limits(config, context["costTracker"])
    return {"config": config, "costTracker": {**tracker, "overshoot": "0"}}


def prefers_judge(context: DebateContext) -> bool:
    """Return whether the judge decides when the limit is reached."""
    return context["config"]["onCostLimit"] == "judge"


def is_new_warning(context: DebateContext, event: Warned) -> bool:
    """Return whether there is no warning about this threshold yet."""
    threshold = ledger.amount(event["warning"]["threshold"])
    thresholds = [ledger.amount(warning["threshold"]) for warning in context["costTracker"]["warnings"]]
    return bool(context["config"]) and threshold not in thresholds


def has_open_warning(context: DebateContext) -> bool:
    """Return whether a warning is not acknowledged."""
    return any(not warning["acknowledged"] for warning in context["costTracker"]["warnings"])


def acknowledge_warning(context: DebateContext) -> DebateUpdate:
    """Mark the latest warning as seen."""
    tracker = context["costTracker"]
    latest = tracker["warnings"][-1].copy()
    latest["acknowledged"] = True
    return {"costTracker": {**tracker, "warnings": [*tracker["warnings"][:-1], latest]}}


def display_warning(
    context: DebateContext, threshold: str | float, cost: str | float, at: float | None, enqueue: DebateEnqueue
) -> None:
    """Add a warning, and report it."""
    added: CostWarning = {
        "timestamp": at,
        "threshold": ledger.format_amount(ledger.amount(threshold)),
        "currentCost": ledger.format_amount(ledger.amount(cost)),
        "acknowledged": False,
    }
    tracker = context["costTracker"]
    enqueue.assign(DebateUpdate(costTracker={**tracker, "warnings": [*tracker["warnings"], added]}))
    enqueue.emit({"type": "cost_warning", "warning": added})


def display_cost_warning(context: DebateContext, event: Warned, enqueue: DebateEnqueue) -> None:
    """Add a warning from outside."""
    warning = event["warning"]
    at = warning.get("timestamp", context["lastAt"])
    display_warning(context, warning["threshold"], warning["currentCost"], at, enqueue)


def warn_of_cost(context: DebateContext, event: AnyEvent, enqueue: DebateEnqueue) -> None:
    """Warn once when the threshold is crossed."""
    tracker = context["costTracker"]
    threshold = tracker["warningThreshold"]
    if threshold is not None and ledger.crosses_warning(context):
        display_warning(context, threshold, tracker["totalCost"], context["lastAt"], enqueue)
