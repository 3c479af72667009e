"""What a debate costs: exact amounts as decimal texts, charged call by call to the model that was asked."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from antiphon.debate.machine.context import CostTracker, DebateContext, ModelTokenUsage
from antiphon.tokens import TOKENS_PER_MESSAGE, tokens_of_text

Json = Mapping[str, Any]
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


def amount(value: Any) -> Decimal:
    """An amount from a text or a number; nothing is nothing."""
    return Decimal(0) if value is None else Decimal(str(value))


def told(value: Decimal) -> str:
    """An amount as text, without an exponent or idle zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") or "0" if "." in text else text


def tracked(config: Json, before: CostTracker) -> CostTracker:
    """The tracker with the limits of a configuration; what was spent stays."""
    warn, limit = config.get("warnAtCost"), config.get("costLimit")
    return {
        **before,
        "warningThreshold": None if warn is None else told(amount(warn)),
        "limitThreshold": None if limit is None else told(amount(limit)),
    }


def price_of(prices: Mapping[str, Any], model: str, usage: Json) -> Decimal | None:
    """What a usage costs by the table; cached tokens without a price of their own cost what others cost."""
    price = prices.get(model)
    if price is None:
        return None
    read, written = usage.get("cachedRead", 0), usage.get("cachedWrite", 0)
    plain = max(0, usage.get("input", 0) - read - written)
    total: Decimal = plain * amount(price["input"]) + usage.get("output", 0) * amount(price["output"])
    total += read * amount(price.get("cachedRead") or price["input"])
    total += written * amount(price.get("cachedWrite") or price["input"])
    return total / MILLION


def cost_of(context: DebateContext, model: str, usage: Json, cost_usd: Any) -> Decimal | None:
    """What a call cost: as its provider's usage was priced, or by the table."""
    return price_of(context["prices"], model, usage) if cost_usd is None else amount(cost_usd)


def charged(context: DebateContext, model: str, usage: Json, cost_usd: Any) -> dict[str, Any]:
    """The costs with one more call in them."""
    cost = cost_of(context, model, usage, cost_usd)
    paid, tracker = cost or Decimal(0), context["costTracker"]
    before = context["tokenUsage"].get(model, NOTHING_USED)
    used: ModelTokenUsage = {
        "inputTokens": before["inputTokens"] + usage.get("input", 0),
        "outputTokens": before["outputTokens"] + usage.get("output", 0),
        "cachedReadTokens": before["cachedReadTokens"] + usage.get("cachedRead", 0),
        "cachedWriteTokens": before["cachedWriteTokens"] + usage.get("cachedWrite", 0),
        "totalCost": told(amount(before["totalCost"]) + paid),
        "requestCount": before["requestCount"] + 1,
        "estimated": before["estimated"] or bool(usage.get("estimated")),
    }
    total, limit = amount(tracker["totalCost"]) + paid, tracker["limitThreshold"]
    spent = {
        "totalCost": told(total),
        "costByModel": {**tracker["costByModel"], model: used["totalCost"]},
        "overshoot": told(max(Decimal(0), total - amount(limit))) if limit is not None else "0",
        "unpriced": tracker["unpriced"] + (cost is None),
    }
    return {"costTracker": {**tracker, **spent}, "tokenUsage": {**context["tokenUsage"], model: used}}


def unseen(context: DebateContext, cost_usd: Any) -> CostTracker:
    """The costs with a call whose end nobody saw: it may have been paid for, and is stated beside the total."""
    tracker = context["costTracker"]
    before = tracker["unseen"]
    noted = {"calls": before["calls"] + 1, "cost": told(amount(before["cost"]) + amount(cost_usd))}
    return {**tracker, "unseen": noted}


def abandoned(context: DebateContext, streams: Iterable[Json]) -> CostTracker:
    """The costs with calls that are given up before they tell what they used: each up to its estimate."""
    for stream in streams:
        context = {**context, "costTracker": unseen(context, stream["estimate"])}
    return context["costTracker"]


def estimate(context: DebateContext, model: Json, messages: Sequence[Json]) -> Decimal:
    """What a call may cost at most: its words, and as many tokens as the reply may have."""
    name = f"{model['provider']}:{model['modelId']}"
    texts = [part.get("text", "") for message in messages for part in message["parts"]]
    words = sum(map(tokens_of_text, texts))
    usage = {"input": words + TOKENS_PER_MESSAGE * len(messages), "output": model["maxTokens"]}
    return price_of(context["prices"], name, usage) or Decimal(0)


def reserved(context: DebateContext) -> Decimal:
    """What the calls on their way may cost."""
    return sum((amount(stream["estimate"]) for stream in context["activeStreams"].values()), Decimal(0))


def breaks_limit(context: DebateContext, *more: Decimal) -> bool:
    """Whether more calls might cost more than what is left."""
    limit = context["costTracker"]["limitThreshold"]
    if limit is None:
        return False
    return amount(context["costTracker"]["totalCost"]) + reserved(context) + sum(more, Decimal(0)) > amount(limit)


def limit_reached(context: DebateContext) -> bool:
    """Whether the limit is reached: S4-57 by the configuration, which the tracker repeats."""
    limit = context["costTracker"]["limitThreshold"]
    return limit is not None and amount(context["costTracker"]["totalCost"]) >= amount(limit)


def crosses_warning(context: DebateContext) -> bool:
    """Whether a threshold is crossed of which nobody was told."""
    tracker = context["costTracker"]
    threshold = tracker["warningThreshold"]
    if threshold is None or amount(tracker["totalCost"]) < amount(threshold):
        return False
    return not any(amount(one["threshold"]) == amount(threshold) for one in tracker["warnings"])


def round_cost(context: DebateContext, responses: Sequence[Json]) -> Decimal:
    """What the responses of a round cost together."""
    return sum((amount(one.get("cost")) for one in responses), Decimal(0))
