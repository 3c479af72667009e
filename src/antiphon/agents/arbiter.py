"""The arbiter: selects the next agent with a model or by rules; the logic of the orchestrator's two services.

1. A model that is given up is replaced by the next one of the run's `fallback`.
2. A model that cannot decide is replaced by rules: one without structured output, unless the run names it as its
   arbiter, and one whose decision does not fit its schema, asked twice.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.actors.logic import TaskScope
from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.agents.arbiter_request import EVALUATE, SELECT, ask_for_decision, can_decide
from antiphon.agents.machine.decisions import ArbiterDecision
from antiphon.agents.machine.results import error_of
from antiphon.agents.machine.rules import RulesInput, evaluate_by_rules, select_by_rules
from antiphon.agents.machine.sessions import fallback_to, next_model, session_with
from antiphon.providers.base import Provider
from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import Prices

Json = dict[str, Any]
RULES = "rules"
OpenSession = Callable[[str, str], Provider]


def arbiter_selects(open_session: OpenSession, prices: Prices | None = None) -> AsyncLogic:
    """Return the logic to provide as `arbiterSelectAgent`: `{decision, agent?, usage, costUsd, at}`."""
    return Arbitration(open_session, prices or Prices(), SELECT, select_by_rules).logic()


def arbiter_evaluates(open_session: OpenSession, prices: Prices | None = None) -> AsyncLogic:
    """Return the logic to provide as `arbiterEvaluate`: `{decision, usage, costUsd, at}`."""
    return Arbitration(open_session, prices or Prices(), EVALUATE, evaluate_by_rules).logic()


@dataclass(frozen=True, slots=True)
class Arbitration:
    """One of the two services of an arbiter: its question, and the rules that can take the place of a model."""

    open_session: OpenSession
    prices: Prices
    question: str
    by_rules: Callable[[RulesInput], ArbiterDecision]
    clock: Clock = REAL_CLOCK

    def logic(self) -> AsyncLogic:
        """Return the logic of the service."""
        # Rules only compute; a model is asked after the step is stored.
        return from_task(self.run, eager=True)

    def run(self, input: Mapping[str, Any], scope: TaskScope) -> Json | Awaitable[Json]:
        """Decide by rules at once, or ask a model."""
        settings = input.get("arbiter") or {}
        if settings.get("kind") == RULES or settings.get("model") in (None, RULES):
            return self._rules_decision(input)
        return self._decide(input, settings["model"], scope)

    def _rules_decision(self, input: Mapping[str, Any]) -> Json:
        return {"decision": dict(self.by_rules(cast(RulesInput, input))), "at": round(self.clock.now())}

    async def _decide(self, input: Mapping[str, Any], model: str, scope: TaskScope) -> Json:
        """Ask the model of the session, then those to fall back to; the last error is raised."""
        session = input["session"]
        current = session["session"]["model"] if session["session"] else model
        is_open = session["session"] is not None
        tried: list[str] = []
        while True:
            if not is_open:
                opened = session_with(current, session["models"], session["sessionId"])
                scope.send_back({"type": "ARBITER_SESSION", "name": session["sessionName"], "session": opened})
            try:
                return await self._ask(input, current, scope)
            except ProviderError as failure:
                error = error_of({"code": failure.code.value, "message": failure.message})
                tried.append(current)
                following = next_model(session["models"], tried, error)
                # What may pass is tried again by the machine, after a delay, as long as it may.
                if following is None or (failure.recoverable and not input["isLastTry"]):
                    raise
            fallback = fallback_to(following, current, error)
            scope.send_back({"type": "ARBITER_FALLBACK", "name": session["sessionName"], "fallback": fallback})
            current = following
            is_open = False

    async def _ask(self, input: Mapping[str, Any], model: str, scope: TaskScope) -> Json:
        """Ask a model; rules decide if it cannot."""
        session = input["session"]
        id = session_with(model, session["models"], session["sessionId"])["id"]
        provider = self.open_session(id, model)
        if input["isDefault"] and not can_decide(provider.model):
            return self._decide_instead(input, f"{model} has no structured output", scope)
        answer = await ask_for_decision(provider, input, question=self.question, session=id, prices=self.prices)
        if answer.problem is not None:
            return {**self._decide_instead(input, answer.problem, scope), **answer.spending}
        return {"decision": answer.decision, "at": round(self.clock.now()), **answer.spending}

    def _decide_instead(self, input: Mapping[str, Any], reason: str, scope: TaskScope) -> Json:
        scope.send_back({"type": "ARBITER_RULES", "reason": reason})
        return self._rules_decision(input)
