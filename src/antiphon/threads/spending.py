"""Usage and cost of replies, in the form that machines count."""

from collections.abc import Sequence
from typing import Any

from antiphon.messages import Usage, usage_to_json
from antiphon.providers.base import Model
from antiphon.providers.prices import Prices
from antiphon.providers.reply import Reply


def spending_of(replies: Sequence[Reply], model: Model, prices: Prices) -> dict[str, Any]:
    """Return `usage` and `costUsd` of replies of a model; the cost is None if any price is unknown."""
    usage = sum((reply.usage for reply in replies), Usage())
    costs = [prices.cost(model, reply.usage, answered_by=reply.answered_by, tier=reply.tier) for reply in replies]
    amounts = [cost.amount for cost in costs if cost is not None]
    return {"usage": usage_to_json(usage), "costUsd": float(sum(amounts)) if len(amounts) == len(costs) else None}
