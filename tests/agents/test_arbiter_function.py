"""A function as the arbiter of a run: it names the next agent or the end, and a wrong answer is an error."""

import asyncio
from typing import Any

import pytest

from antiphon import App, MemoryStore, create_actor, to_awaitable
from antiphon.agents import RunSituation
from antiphon.agents.arbiter_function import arbiter_by_function
from tests.fixtures.agents import Troupe, idle, team

AGENTS = {"poet": {"name": "poet", "whenToUse": "for poems"}, "critic": {"name": "critic", "whenToUse": "to judge"}}
LAST = {"agent": "poet", "result": "success", "output": "A poem."}
INPUT = {"task": "Write.", "plan": None, "history": [LAST], "agents": AGENTS, "lastExecution": LAST, "arbiter": {}}


def ask(function: Any, *, is_evaluation: bool = False, **facts: Any) -> Any:
    async def main() -> Any:
        logic = arbiter_by_function(function, is_evaluation=is_evaluation)
        return await to_awaitable(create_actor(logic, input={**INPUT, **facts}).start())

    return asyncio.run(main())


@pytest.mark.parametrize("is_evaluation", [True, False])
def test_a_function_sees_the_situation(is_evaluation: bool) -> None:
    situations: list[RunSituation] = []

    async def choose(situation: RunSituation) -> str:
        situations.append(situation)
        return "critic"

    output = ask(choose, is_evaluation=is_evaluation)
    uses = {"poet": "for poems", "critic": "to judge"}

    assert output["decision"] == {"type": "SELECT_MODE", "mode": "critic", "reason": "The arbiter chose it."}
    assert situations == [RunSituation("Write.", uses, None, [LAST], LAST if is_evaluation else None)]


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ("COMPLETE", {"type": "COMPLETE", "summary": "A poem."}),
        ("RETRY", {"type": "RETRY"}),
        ("CONTINUE", {"type": "CONTINUE"}),
        ({"type": "COMPLETE", "summary": "Ready."}, {"type": "COMPLETE", "summary": "Ready."}),
    ],
)
def test_an_answer_is_a_decision(answer: Any, decision: Any) -> None:
    assert ask(lambda situation: answer)["decision"] == decision


@pytest.mark.parametrize("answer", ["nobody", None, 3, {"type": "SELECT_MODE"}, {"mode": "poet"}, ["poet"]])
def test_a_wrong_answer_is_an_error_with_the_choices(answer: Any) -> None:
    with pytest.raises(Exception, match="expected one of poet, critic, COMPLETE, CONTINUE, RETRY, or a decision"):
        ask(lambda situation: answer)


def test_an_error_of_the_function_is_one_of_the_arbiter() -> None:
    def fail(situation: RunSituation) -> str:
        raise KeyError("plan")

    with pytest.raises(Exception, match="the arbiter failed: KeyError: 'plan'"):
        ask(fail)


def test_a_run_that_is_set_to_rules_asks_no_function() -> None:
    def fail(situation: RunSituation) -> str:
        raise AssertionError

    assert ask(fail, arbiter={"kind": "rules"})["decision"]["mode"] == "poet"


def test_a_run_follows_the_function() -> None:
    troupe = Troupe(developer=lambda scene: "Written.", tester=lambda scene: "Tested.")

    def choose(situation: RunSituation) -> str:
        turns = [turn["agent"] for turn in situation.history]
        return "developer" if not turns else "tester" if turns == ["developer"] else "COMPLETE"

    async def main() -> Any:
        async with App(MemoryStore(), models=troupe.models, arbiter=choose) as app:
            id = await app.runs.create(team("developer", "tester"), model="scripted:troupe")
            await idle(app.runs, id, "Write it.")
            return await app.runs.result(id)

    result = asyncio.run(main())

    assert [turn["agent"] for turn in result["history"]] == ["developer", "tester"]
    assert result["success"] is True
