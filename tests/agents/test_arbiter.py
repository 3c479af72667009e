"""The arbiter: what it is told, how its answers are checked, and the rules that can take its place."""

import asyncio
import json
from inspect import isawaitable

import pytest

from antiphon.agents.arbiter import arbiter_evaluates, arbiter_selects
from antiphon.agents.machine.briefs import arbiter_brief, cut, history_lines
from antiphon.agents.machine.decisions import decision_schema
from antiphon.agents.machine.plan import plan_of, with_step
from antiphon.agents.machine.rules import evaluate_by_rules, select_by_rules
from antiphon.json_schema import Checker
from antiphon.providers.base import Model, TextDelta
from antiphon.providers.errors import ProviderError
from tests.fixtures.chats import Teller
from tests.fixtures.orchestrator import AGENTS

INPUT = {
    "task": "write a poem", "plan": None, "history": [], "lastError": None, "agents": AGENTS, "lastExecution": None,
    "arbiter": {"model": "scripted:teller"}, "defaultAgent": None, "limits": {"iterations": 9, "costUsd": 0.5},
}  # fmt: skip
CHOICE = {"type": "SELECT_MODE", "mode": "developer", "reason": "to begin"}


def asked(logic, *replies, **changes):
    teller = Teller(*[[TextDelta(json.dumps(one) if not isinstance(one, str) else one)] for one in replies])
    service = logic(lambda reference: teller)
    found = service.call({**INPUT, **changes}, None)
    return asyncio.run(found) if isawaitable(found) else found, teller


@pytest.mark.requirement("S1-91", "S1-49", "S1-32")
def test_a_decision_is_asked_for_with_everything_that_matters():
    output, teller = asked(arbiter_selects, CHOICE)

    assert output["decision"] == CHOICE
    assert output["at"] > 0
    system, brief = (message.text for message in teller.asked[0].messages)
    assert "arbiter" in system
    for words in (
        "write a poem",
        "There is no plan yet.",
        "- reviewer: when reviewer is needed",
        "9 more turns, 0.5000 USD",
    ):
        assert words in brief
    assert "valuat" not in brief


@pytest.mark.requirement("S1-94", "S1-59")
def test_an_evaluation_is_asked_as_one():
    _, teller = asked(arbiter_evaluates, {"type": "COMPLETE", "summary": "done"})

    assert "Evaluate the last turn" in teller.asked[0].messages[1].text


@pytest.mark.requirement("S1.4-5")
def test_an_answer_that_does_not_fit_is_asked_for_once_more():
    """Also in a code block."""
    output, teller = asked(arbiter_selects, "I think the developer.", f"Sure:\n```json\n{json.dumps(CHOICE)}\n```")

    assert (output["decision"], len(teller.asked)) == (CHOICE, 2)


@pytest.mark.requirement("S1-51", "S1-B2")
def test_a_second_bad_answer_is_an_error_that_the_machine_may_try_again():
    with pytest.raises(ProviderError) as caught:
        asked(arbiter_selects, "no", {"type": "SELECT_MODE"})

    assert caught.value.recoverable


@pytest.mark.requirement("S1-91")
def test_an_unknown_agent_fits_the_schema_and_is_left_to_the_machine():
    output, _ = asked(arbiter_selects, {**CHOICE, "mode": "nobody"})

    assert output["decision"]["mode"] == "nobody"


@pytest.mark.requirement("S1-32", "S1-104")
@pytest.mark.parametrize(
    ("given", "fits"),
    [
        (CHOICE, True),
        ({"type": "CONTINUE", "reason": "x"}, True),
        ({"type": "COMPLETE", "summary": "x"}, True),
        ({"type": "RETRY", "reason": "x"}, True),
        ({"type": "SELECT_MODE", "reason": "x"}, False),
        ({"type": "SHRUG"}, False),
        ({"mode": "developer"}, False),
        ({**CHOICE, "parallel": [{"mode": "developer", "step": 0}] * 5}, False),
        ({**CHOICE, "parallel": [{"mode": "stranger", "step": 0}]}, False),
    ],
)
def test_decisions_are_held_to_their_schema(given, fits):
    assert (Checker(decision_schema(list(AGENTS))).problems(given) == []) == fits


@pytest.mark.requirement("S1.4-6")
def test_what_the_arbiter_is_told_is_bounded():
    """The last five turns, ten when more than two failed, long texts cut."""
    entry = {"agent": "a", "result": "success", "output": "x" * 10_000}
    failing = [{**entry, "result": "failure", "error": "no"}] * 3

    calm, troubled = history_lines([entry] * 30), history_lines([*[entry] * 20, *failing])
    assert (len(calm), calm[0]) == (6, "25 earlier turns are not shown.")
    assert len(troubled) == 11
    assert len(history_lines([*[entry] * 20, *failing[:2]])) == 6
    assert (len(calm[1]) < 350, 1_900 < len(calm[-1]) < 2_100) == (True, True)
    assert cut("x" * 10_000, 300).count("more") == 1
    assert len(arbiter_brief({**INPUT, "task": "t" * 100_000, "history": [entry] * 1_000}, "?")) < 10_000


@pytest.mark.requirement("S1.4-6")
def test_an_error_is_told_with_what_it_means():
    brief = arbiter_brief({**INPUT, "lastError": {"code": "3001", "message": "slow down"}}, "?")

    assert "The last error: slow down (a limit of the provider: waiting may help)" in brief


@pytest.mark.requirement("S1-91", "S1-94")
def test_rules_take_the_place_of_a_model():
    """Plan, then step by step, again what failed, and an end."""
    plan = plan_of({"steps": ["one", {"description": "two", "agent": "reviewer"}]})
    success = {"agent": "developer", "result": "success", "output": "did"}

    def after(entry, plan):
        return evaluate_by_rules({**INPUT, "plan": plan, "lastExecution": entry})

    assert select_by_rules(INPUT)["mode"] == "planner"
    assert select_by_rules({**INPUT, "plan": plan})["mode"] == "developer"
    assert select_by_rules({**INPUT, "agents": {}})["type"] == "COMPLETE"
    assert after({**success, "agent": "planner"}, plan)["mode"] == "developer"
    assert after(success, plan) == {
        "type": "SELECT_MODE",
        "mode": "reviewer",
        "reason": "Step 0 is done.",
        "completed": [0],
    }
    assert after(success, with_step(plan, 0, "complete"))["type"] == "COMPLETE"
    assert after(success, None)["type"] == "COMPLETE"
    assert after({**success, "result": "failure"}, plan)["type"] == "RETRY"
    output, teller = asked(arbiter_selects, arbiter={"kind": "rules", "model": "scripted:teller"})
    assert (output["decision"]["mode"], teller.asked) == ("planner", [])


@pytest.mark.parametrize(("limit_usd", "requests"), [(0.5, 0), (None, 1)])
def test_a_model_without_a_price_is_not_asked_where_the_cost_is_limited(limit_usd, requests):
    teller = Teller([TextDelta(json.dumps(CHOICE))])
    teller.model = Model("openai:unpriced", "openai", "unpriced")
    service = arbiter_selects(lambda reference: teller)
    decision = service.call({**INPUT, "limits": {"iterations": 9, "costUsd": limit_usd}}, None)
    if requests:
        asyncio.run(decision)
    else:
        with pytest.raises(ProviderError, match="9007"):
            asyncio.run(decision)

    assert len(teller.asked) == requests
