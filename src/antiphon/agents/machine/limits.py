"""The limits of a run: work, failures, money and time; and how long to wait before trying again."""

from antiphon.agents.machine.context import OrchestratorContext
from antiphon.agents.machine.results import SEED_CODES


def max_iterations_reached(context: OrchestratorContext) -> bool:
    """Whether agents have worked as often as they may."""
    return context["iterationCount"] >= context["maxIterations"]


def max_failures_reached(context: OrchestratorContext) -> bool:
    """Whether too many things failed one after the other."""
    return context["consecutiveFailures"] >= context["maxFailures"]


def cost_limit_reached(context: OrchestratorContext) -> bool:
    """Whether the money is spent."""
    return context["maxCostUsd"] is not None and context["costUsd"] >= context["maxCostUsd"]


def has_room(context: OrchestratorContext) -> bool:
    """Whether another agent may work."""
    return not (max_iterations_reached(context) or cost_limit_reached(context) or max_failures_reached(context))


def is_recoverable_error(context: OrchestratorContext) -> bool:
    """Whether the last error may pass by itself: what a provider says, or one of two codes; a loss never does."""
    error = context["lastError"]
    may_pass = error is not None and (error["recoverable"] or error["code"] in SEED_CODES)
    return may_pass and context["lostIn"] is None


def backoff(context: OrchestratorContext) -> float:
    """How long to wait after a failure: twice as long each time, but as long as a provider asks at least."""
    error = context["lastError"]
    asked = (error.get("retryAfterMs") if error else None) or 0
    failures = max(1, context["consecutiveFailures"])
    wait: float = min(context["backoffMs"] * 2 ** min(failures - 1, 30), context["longestBackoffMs"])
    return max(wait, asked)


def share_of_budget(context: OrchestratorContext, agents: int) -> float | None:
    """What one of some agents may spend."""
    if context["maxCostUsd"] is None:
        return None
    return max(0.0, context["maxCostUsd"] - context["costUsd"]) / max(1, agents)
