"""The limits of a run: iterations, failures, cost and time; and the delay before another attempt."""

from antiphon.agents.machine.context import OrchestratorContext
from antiphon.agents.machine.results import SEED_CODES


def max_iterations_reached(context: OrchestratorContext) -> bool:
    """Return whether the run has had all its iterations."""
    return context["iterationCount"] >= context["maxIterations"]


def max_failures_reached(context: OrchestratorContext) -> bool:
    """Return whether too many failures came one after the other."""
    return context["consecutiveFailures"] >= context["maxFailures"]


def cost_limit_reached(context: OrchestratorContext) -> bool:
    """Return whether the cost limit is reached."""
    return context["maxCostUsd"] is not None and context["costUsd"] >= context["maxCostUsd"]


def has_room(context: OrchestratorContext) -> bool:
    """Return whether no limit keeps another agent from working."""
    return not (max_iterations_reached(context) or cost_limit_reached(context) or max_failures_reached(context))


def is_recoverable_error(context: OrchestratorContext) -> bool:
    """Return whether the last error is worth another attempt; the loss of a process waits for a person instead."""
    error = context["lastError"]
    recoverable = error is not None and (error["recoverable"] or error["code"] in SEED_CODES)
    return recoverable and context["lostIn"] is None


def is_fatal(context: OrchestratorContext) -> bool:
    """Return whether the last error ends the run."""
    return context["lostIn"] is None and not is_recoverable_error(context)


def backoff(context: OrchestratorContext) -> float:
    """Return the delay after a failure: doubled each time, and at least what the provider asks for."""
    error = context["lastError"]
    retry_after_ms = (error.get("retryAfterMs") if error else None) or 0
    doublings = min(max(1, context["consecutiveFailures"]) - 1, 30)
    return max(min(context["backoffMs"] * (1 << doublings), context["longestBackoffMs"]), retry_after_ms)


def remaining_cost(context: OrchestratorContext) -> float | None:
    """Return what the run may still spend, or None without a limit."""
    limit = context["maxCostUsd"]
    return None if limit is None else max(0.0, limit - context["costUsd"])


def share_of_budget(context: OrchestratorContext, agents: int) -> float | None:
    """Return what one of some agents may spend, or None without a limit."""
    remaining = remaining_cost(context)
    return None if remaining is None else remaining / max(1, agents)
