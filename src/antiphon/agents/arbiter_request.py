"""The request for a decision of an arbiter: its brief, its schema, and the check of the answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from antiphon.agents.machine.briefs import BriefInput, arbiter_brief
from antiphon.agents.machine.decisions import decision_schema
from antiphon.agents.machine.rules import offered_agents
from antiphon.errors import Code
from antiphon.messages import system, user
from antiphon.providers.base import Model, OutputSchema, Provider, Request
from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import Prices
from antiphon.providers.reply import Reply
from antiphon.providers.structured import ask
from antiphon.threads.spending import spending_of

SCRIPTED = "scripted"  # its decisions are part of its script
ROLE = (
    "You are the arbiter of a team of agents. You do not do the work: you say who works next, or that all is done. "
    "SELECT_MODE names the agent in `mode`; give `parallel` only for steps that do not wait for each other. "
    "CONTINUE lets the same agent go on, RETRY has the last work done again, COMPLETE ends the task with a `summary`. "
    "Name in `completed` the steps of the plan that are done: a task that ends with open steps counts as not done. "
    "Judge by what was done, not by what was promised."
)
SELECT = "Choose the agent that works next."
EVALUATE = "Evaluate the last turn and decide what comes next."


@dataclass(frozen=True, slots=True)
class ArbiterAnswer:
    """Answer of an arbiter's model: a decision, or the problem with it; and what it has cost."""

    decision: Any
    problem: str | None
    spending: Mapping[str, Any]


def can_decide(model: Model) -> bool:
    """Return whether a model can be expected to give decisions."""
    return model.structured or model.provider == SCRIPTED


async def ask_for_decision(
    provider: Provider, input: Mapping[str, Any], *, question: str, session: str, prices: Prices
) -> ArbiterAnswer:
    """Ask a model for a decision; one that does not fit the schema is asked for once more."""
    prices.require(provider.model, limited=(input.get("limits") or {}).get("costUsd") is not None)
    offered = offered_agents(input["agents"], input["history"])
    available = {name: agent["whenToUse"] for name, agent in offered.items()}
    brief = arbiter_brief(cast(BriefInput, {**input, "available": available}), question)
    request = Request((system(ROLE), user(brief)), cache_key=session)
    is_first = question == SELECT and not input["history"]
    schema = OutputSchema(decision_schema(list(available), is_first=is_first), "decision")
    replies: list[Reply] = []
    decision = None
    problem = None
    try:
        decision = (await ask(provider, request, schema, replies=replies)).value
    except ProviderError as error:
        if error.code is not Code.INVALID_OUTPUT:
            raise
        problem = error.message
    return ArbiterAnswer(decision, problem, spending_of(replies, provider.model, prices))
