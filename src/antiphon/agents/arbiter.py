"""The arbiter: selects the next agent with a model or by rules; the logic of the orchestrator's two services."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.agents.machine.briefs import BriefInput, arbiter_brief
from antiphon.agents.machine.decisions import ArbiterDecision, decision_schema
from antiphon.agents.machine.rules import RulesInput, evaluate_by_rules, select_by_rules
from antiphon.errors import Code
from antiphon.messages import system, user
from antiphon.providers.base import OutputSchema, Provider, Request
from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import Prices
from antiphon.providers.structured import ask
from antiphon.threads.spending import spending_of

Json = dict[str, Any]
RULES = "rules"
ROLE = (
    "You are the arbiter of a team of agents. You do not do the work: you say who works next, or that all is done. "
    "SELECT_MODE names the agent in `mode`; give `parallel` only for steps that do not wait for each other. "
    "CONTINUE lets the same agent go on, RETRY has the last work done again, COMPLETE ends the task with a `summary`. "
    "Name in `completed` the steps of the plan that are done. Judge by what was done, not by what was promised."
)
SELECT = "Choose the agent that works next."
EVALUATE = "Evaluate the last turn and decide what comes next."


def arbiter_selects(open_model: Callable[[str], Provider], prices: Prices | None = None) -> AsyncLogic:
    """Return the logic to provide as `arbiterSelectAgent`: `{decision, agent?, usage, costUsd, at}`."""
    return _service(open_model, prices or Prices(), SELECT, select_by_rules)


def arbiter_evaluates(open_model: Callable[[str], Provider], prices: Prices | None = None) -> AsyncLogic:
    """Return the logic to provide as `arbiterEvaluate`: `{decision, usage, costUsd, at}`."""
    return _service(open_model, prices or Prices(), EVALUATE, evaluate_by_rules)


def _service(
    open_model: Callable[[str], Provider],
    prices: Prices,
    question: str,
    by_rules: Callable[[RulesInput], ArbiterDecision],
    clock: Clock = REAL_CLOCK,
) -> AsyncLogic:
    def run(input: Mapping[str, Any]) -> Json | Awaitable[Json]:
        settings = input.get("arbiter") or {}
        if settings.get("kind") == RULES or settings.get("model") in (None, RULES):
            return {"decision": dict(by_rules(cast(RulesInput, input))), "at": round(clock.now())}
        return ask_model(input, settings["model"])

    async def ask_model(input: Mapping[str, Any], model: str) -> Json:
        answer = await _ask_model(input, open_model, prices, question, model)
        return {**answer, "at": round(clock.now())}

    return from_task(run, eager=True)  # rules only compute; a model is asked after the step is stored


async def _ask_model(
    input: Mapping[str, Any], open_model: Callable[[str], Provider], prices: Prices, question: str, model: str
) -> Json:
    """Ask a model; an answer that does not fit the schema is asked for once more, then it is a recoverable error."""
    provider = open_model(model)
    prices.require(provider.model, limited=(input.get("limits") or {}).get("costUsd") is not None)
    available = {name: agent["whenToUse"] for name, agent in input["agents"].items()}
    brief = arbiter_brief(cast(BriefInput, {**input, "available": available}), question)
    request = Request((system(ROLE), user(brief)))
    try:
        answer = await ask(provider, request, OutputSchema(decision_schema(list(available)), "decision"))
    except ProviderError as error:
        if error.code is Code.INVALID_OUTPUT:
            # Another attempt may give a decision; the machine limits the attempts.
            raise ProviderError(error.code, error.message, recoverable=True) from error
        raise
    return {"decision": answer.value, **spending_of(answer.replies, provider.model, prices)}
