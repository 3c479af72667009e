"""A plain function as the arbiter of runs."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.agents.machine.agent_config import DECISIONS
from antiphon.agents.machine.decisions import decision_schema
from antiphon.agents.machine.rules import RulesInput, evaluate_by_rules, select_by_rules
from antiphon.errors import Code
from antiphon.json_schema import Checker
from antiphon.providers.errors import ProviderError
from antiphon.threads.roles import call_role

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunSituation:
    """State of a run as its arbiter sees it: after a turn with `last`, or before one without."""

    task: str
    agents: Mapping[str, str]
    """Use of every agent, by name."""
    plan: Mapping[str, Any] | None
    history: Sequence[Mapping[str, Any]]
    last: Mapping[str, Any] | None
    """Turn to evaluate; None if an agent is to be selected."""


Arbiter = Callable[[RunSituation], str | Mapping[str, Any] | Awaitable[str | Mapping[str, Any]]]
"""Function that returns the next agent, COMPLETE, CONTINUE or RETRY, or a whole decision; async or not."""


def arbiter_by_function(function: Arbiter, *, is_evaluation: bool, clock: Clock = REAL_CLOCK) -> AsyncLogic:
    """Return the logic for `arbiterSelectAgent` or `arbiterEvaluate`; a run whose arbiter is set to rules has those."""
    by_rules = evaluate_by_rules if is_evaluation else select_by_rules

    def run(input: Mapping[str, Any]) -> Json | Awaitable[Json]:
        if (input.get("arbiter") or {}).get("kind") == "rules":
            return {"decision": dict(by_rules(cast(RulesInput, input))), "at": round(clock.now())}
        return ask_function(input)

    async def ask_function(input: Mapping[str, Any]) -> Json:
        decision = await _ask(function, input, is_evaluation=is_evaluation)
        return {"decision": decision, "at": round(clock.now())}

    return from_task(run, eager=True)  # rules only compute; a function is asked after the step is stored


async def _ask(function: Arbiter, input: Mapping[str, Any], *, is_evaluation: bool) -> Json:
    """Ask a function; an error of it, or a wrong decision, is one that another attempt does not repair."""
    available = {name: agent["whenToUse"] for name, agent in input["agents"].items()}
    last = input.get("lastExecution") if is_evaluation else None
    situation = RunSituation(input["task"], available, input.get("plan"), input["history"], last)
    try:
        answer: object = await call_role(function, situation)
    except Exception as error:
        raise _arbiter_error(f"failed: {type(error).__name__}: {error}") from error
    if isinstance(answer, str) and answer in available:
        return {"type": "SELECT_MODE", "mode": answer, "reason": "The arbiter chose it."}
    if answer == "COMPLETE":
        return {"type": answer, "summary": str((input.get("lastExecution") or {}).get("output") or "Done.")}
    decision = {"type": answer} if isinstance(answer, str) else answer
    if not isinstance(decision, Mapping) or Checker(decision_schema(list(available))).problems(dict(decision)):
        choices = ", ".join([*available, *DECISIONS])
        raise _arbiter_error(f"returned {answer!r}; expected one of {choices}, or a decision")
    return dict(decision)


def _arbiter_error(problem: str) -> ProviderError:
    return ProviderError(Code.INVALID_OUTPUT, f"the arbiter {problem}", recoverable=False)
