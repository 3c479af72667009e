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
SESSION = {"models": ["scripted:teller"], "session": None, "sessionId": "t-run-1-@arbiter", "sessionName": "@arbiter"}
INPUT |= {"session": SESSION, "isLastTry": False, "isDefault": True}
CHOICE = {"type": "SELECT_MODE", "mode": "developer", "reason": "to begin"}


class Notes:
    """What the task of an arbiter tells the machine."""

    def __init__(self):
        self.sent = []

    def send_back(self, event):
        self.sent.append(event)

    def of(self, type):
        return [event for event in self.sent if event["type"] == type]


def tells(*replies):
    return Teller(*[[TextDelta(json.dumps(one) if not isinstance(one, str) else one)] for one in replies])


def decided(logic, providers, **changes):
    """What the arbiter decides, and what it tells before; `providers` has a model by each reference."""
    notes = Notes()
    service = logic(lambda session, reference: providers[reference])
    found = service.call({**INPUT, **changes}, notes)
    return asyncio.run(found) if isawaitable(found) else found, notes


def asked(logic, *replies, **changes):
    teller = tells(*replies)
    return decided(logic, {"scripted:teller": teller}, **changes)[0], teller


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


@pytest.mark.requirement("S1-91")
@pytest.mark.parametrize("answers", [("no", {"type": "SHRUG"}), ({**CHOICE, "mode": "nobody"},) * 2])
def test_rules_decide_where_a_model_gives_no_decision_twice(answers):
    output, notes = decided(arbiter_selects, {"scripted:teller": tells(*answers)})

    assert output["decision"] == {"type": "SELECT_MODE", "mode": "planner", "reason": "There is no plan yet."}
    assert output["usage"]["output"] > 0
    [note] = notes.of("ARBITER_RULES")
    assert note["reason"].startswith("the model gave no valid decision: ")


@pytest.mark.parametrize(("is_default", "requests"), [(True, 0), (False, 1)])
def test_rules_decide_for_a_model_without_structured_output_unless_it_is_named(is_default, requests):
    teller = tells(CHOICE)
    teller.model = Model("own:small", "own", "small", structured=False)
    limits = {"iterations": 9, "costUsd": None}
    output, notes = decided(arbiter_selects, {"scripted:teller": teller}, isDefault=is_default, limits=limits)

    assert (output["decision"]["mode"], len(teller.asked)) == ("developer" if requests else "planner", requests)
    assert [note["reason"] for note in notes.of("ARBITER_RULES")] == (
        [] if requests else ["scripted:teller has no structured output"]
    )


def test_the_schema_names_the_agents_and_the_first_decision_selects_one():
    first = decision_schema(list(AGENTS), is_first=True)
    later = decision_schema(list(AGENTS))

    assert first["properties"]["mode"] == later["properties"]["mode"] == {"type": "string", "enum": list(AGENTS)}
    assert (first["properties"]["type"]["enum"], first["required"]) == (["SELECT_MODE"], ["type", "mode"])


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
    service = arbiter_selects(lambda session, reference: teller)
    decision = service.call({**INPUT, "limits": {"iterations": 9, "costUsd": limit_usd}}, Notes())
    if requests:
        asyncio.run(decision)
    else:
        with pytest.raises(ProviderError, match="9007"):
            asyncio.run(decision)

    assert len(teller.asked) == requests
