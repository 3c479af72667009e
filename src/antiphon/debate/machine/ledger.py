"""The costs of a debate: exact amounts as decimal texts, charged call by call to the model."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from antiphon.debate.machine.context import (
    CostTracker,
    DebateConfig,
    DebateContext,
    DebateUpdate,
    LLMModel,
    ModelPrice,
    ModelTokenUsage,
    Response,
    Stream,
)
from antiphon.debate.machine.transcript import PromptMessage
from antiphon.threads.machine.content import UsageJson
from antiphon.tokens import TOKENS_PER_MESSAGE, tokens_of_text

MILLION = Decimal(1_000_000)
NOTHING_USED: ModelTokenUsage = {
    "inputTokens": 0,
    "outputTokens": 0,
    "cachedReadTokens": 0,
    "cachedWriteTokens": 0,
    "totalCost": "0",
    "requestCount": 0,
    "estimated": False,
}


def amount(value: Decimal | float | str | None) -> Decimal:
    """Convert a text or a number to an amount; None is 0."""
    return Decimal(0) if value is None else Decimal(str(value))


def format_amount(value: Decimal) -> str:
    """Format an amount without an exponent and without trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") or "0" if "." in text else text


def with_limits(config: DebateConfig, before: CostTracker) -> CostTracker:
    """Set the limits of a configuration in a tracker, and keep its costs."""
    warn = config.get("warnAtCost")
    limit = config.get("costLimit")
    return {
        **before,
        "warningThreshold": None if warn is None else format_amount(amount(warn)),
        "limitThreshold": None if limit is None else format_amount(amount(limit)),
    }


def price_of(prices: Mapping[str, ModelPrice | None], model: str, usage: UsageJson) -> Decimal | None:
    """Return the cost of a usage by the table; cached tokens without a price cost as much as input."""
    price = prices.get(model)
    if price is None:
        return None
    read = usage.get("cachedRead", 0)
    written = usage.get("cachedWrite", 0)
    plain = max(0, usage.get("input", 0) - read - written)
    total: Decimal = plain * amount(price["input"]) + usage.get("output", 0) * amount(price["output"])
    total += read * amount(price.get("cachedRead") or price["input"])
    total += written * amount(price.get("cachedWrite") or price["input"])
    return total / MILLION


def cost_of(context: DebateContext, model: str, usage: UsageJson, cost_usd: float | None) -> Decimal | None:
    """Return the cost of a call: as reported, else by the table."""
    return price_of(context["prices"], model, usage) if cost_usd is None else amount(cost_usd)


def charge(context: DebateContext, model: str, usage: UsageJson, cost_usd: float | None) -> DebateUpdate:
    """Charge a call."""
    cost = cost_of(context, model, usage, cost_usd)
    paid = cost or Decimal(0)
    tracker = context["costTracker"]
    before = context["tokenUsage"].get(model, NOTHING_USED)
    used: ModelTokenUsage = {
        "inputTokens": before["inputTokens"] + usage.get("input", 0),
        "outputTokens": before["outputTokens"] + usage.get("output", 0),
        "cachedReadTokens": before["cachedReadTokens"] + usage.get("cachedRead", 0),
        "cachedWriteTokens": before["cachedWriteTokens"] + usage.get("cachedWrite", 0),
        "totalCost": format_amount(amount(before["totalCost"]) + paid),
        "requestCount": before["requestCount"] + 1,
        "estimated": before["estimated"] or bool(usage.get("estimated")),
    }
    total = amount(tracker["totalCost"]) + paid
    limit = tracker["limitThreshold"]
    after: CostTracker = {
        **tracker,
        "totalCost": format_amount(total),
        "costByModel": {**tracker["costByModel"], model: used["totalCost"]},
        "overshoot": format_amount(max(Decimal(0), total - amount(limit))) if limit is not None else "0",
        "unpriced": tracker["unpriced"] + (cost is None),
    }
    return {"costTracker": after, "tokenUsage": {**context["tokenUsage"], model: used}}


def add_unseen(context: DebateContext, cost_usd: Decimal | str) -> CostTracker:
    """Add a call whose usage is unknown: its possible cost is kept beside the total."""
    tracker = context["costTracker"]
    before = tracker["unseen"]
    cost = format_amount(amount(before["cost"]) + amount(cost_usd))
    return {**tracker, "unseen": {"calls": before["calls"] + 1, "cost": cost}}


def add_abandoned(context: DebateContext, streams: Iterable[Stream]) -> CostTracker:
    """Add calls that are stopped before their usage is known: each up to its estimate."""
    for stream in streams:
        context = {**context, "costTracker": add_unseen(context, stream["estimate"])}
    return context["costTracker"]


def estimate(context: DebateContext, model: LLMModel, messages: Sequence[PromptMessage]) -> Decimal:
    """Estimate the highest cost of a call: its words, and as many tokens as the reply may have."""
    name = f"{model['provider']}:{model['modelId']}"
    texts = [part.get("text", "") for message in messages for part in message["parts"]]
    words = sum(map(tokens_of_text, texts))
    usage: UsageJson = {"input": words + TOKENS_PER_MESSAGE * len(messages), "output": model["maxTokens"]}
    return price_of(context["prices"], name, usage) or Decimal(0)


def reserved_cost(context: DebateContext) -> Decimal:
    """Return the highest cost of the calls in progress."""
    return sum((amount(stream["estimate"]) for stream in context["activeStreams"].values()), Decimal(0))


def breaks_limit(context: DebateContext, *more: Decimal) -> bool:
    """Return whether further calls might exceed the limit."""
    limit = context["costTracker"]["limitThreshold"]
    if limit is None:
        return False
    return amount(context["costTracker"]["totalCost"]) + reserved_cost(context) + sum(more, Decimal(0)) > amount(limit)


def limit_reached(context: DebateContext) -> bool:
    """Return whether the limit is reached."""
    limit = context["costTracker"]["limitThreshold"]
    return limit is not None and amount(context["costTracker"]["totalCost"]) >= amount(limit)


def crosses_warning(context: DebateContext) -> bool:
    """Return whether the threshold is crossed and there is no warning about it yet."""
    tracker = context["costTracker"]
    threshold = tracker["warningThreshold"]
    if threshold is None or amount(tracker["totalCost"]) < amount(threshold):
        return False
    return not any(amount(warning["threshold"]) == amount(threshold) for warning in tracker["warnings"])


def total_cost(responses: Sequence[Response]) -> Decimal:
    """Return the cost of responses together."""
    return sum((amount(response.get("cost")) for response in responses), Decimal(0))
