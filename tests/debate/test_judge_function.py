"""Debates judged by a function: its scores are the verdict, and a wrong ruling is an error of the judge."""

import asyncio
from typing import Any

import pytest

from antiphon import App, MemoryStore, create_actor, to_awaitable
from antiphon.debate import Hearing
from antiphon.debate.judge_function import judge_by_function
from antiphon.providers import Models, Prices
from tests.fixtures.debates import CONFIG, TOPIC, brief

INPUT = {
    "messages": [{"role": "user", "parts": [{"type": "text", "text": "Trees.\n\nOak: yes."}]}],
    "participants": ["pro", "con"],
    "criteria": ["clarity"],
}


def rule(function: Any) -> Any:
    async def main() -> Any:
        return await to_awaitable(create_actor(judge_by_function(function), input=INPUT).start())

    return asyncio.run(main())


def test_a_function_hears_the_transcript_and_gives_scores() -> None:
    hearings: list[Hearing] = []

    def judge(hearing: Hearing) -> dict[str, int]:
        hearings.append(hearing)
        return {"pro": 70, "con": 30}

    output = rule(judge)

    assert hearings == [Hearing("Trees.\n\nOak: yes.", ("pro", "con"), ("clarity",))]
    assert output["verdict"] == {"reasoning": "", "scores": {"pro": 70, "con": 30}}
    assert (output["error"], output["usage"], output["costUsd"]) == (None, None, None)


def test_a_function_may_give_a_whole_verdict() -> None:
    verdict = {
        "scores": {"pro": 1, "con": 2.5},
        "reasoning": "So it is.",
        "criteria": {"clarity": {"pro": 1, "con": 2}},
    }

    async def judge(hearing: Hearing) -> Any:
        return verdict

    assert rule(judge)["verdict"] == verdict


@pytest.mark.requirement("S4-124")
def test_criteria_may_be_words() -> None:
    criteria = {"clarity": "Both were clear.", "evidence": {"pro": "much", "con": 3}}

    output = rule(lambda hearing: {"scores": {"pro": 1, "con": 2}, "criteria": criteria})

    assert output["verdict"]["criteria"] == criteria


@pytest.mark.parametrize(
    ("ruling", "problem"),
    [
        ("pro", "TypeError: it returned 'pro'; expected the scores by participant"),
        ({"pro": 1}, "expected one for each of pro, con"),
        ({"pro": 1, "con": 101}, "the score of con is 101; expected a number from 0 to 100"),
        ({"pro": True, "con": 1}, "the score of pro is True"),
        ({"scores": None}, "the scores are None"),
        ({"scores": {"pro": 1, "con": 2}, "criteria": ["clarity"]}, "the criteria are ['clarity']; expected a text"),
        ({"scores": {"pro": 1, "con": 2}, "criteria": {"clarity": None}}, "the criteria are {'clarity': None}"),
        (KeyError("x"), "the judge failed: KeyError: 'x'"),
    ],
)
def test_a_wrong_ruling_is_an_error_of_the_judge(ruling: Any, problem: str) -> None:
    def judge(hearing: Hearing) -> Any:
        if isinstance(ruling, Exception):
            raise ruling
        return ruling

    output = rule(judge)

    assert output["verdict"] is None
    assert problem in output["error"]["message"]
    assert output["error"]["recoverable"] is False


def test_a_debate_with_a_cost_limit_is_judged_by_the_function_and_its_model_is_never_opened() -> None:
    models = Models(openers={"scripted": brief})
    config = {**CONFIG, "models": ["scripted:debate"], "judge": {"model": "function:judge"}, "costLimit": 5}

    async def main() -> Any:
        app = App(
            MemoryStore(), models=models, prices=Prices(), judge=lambda hearing: dict.fromkeys(sides(hearing), 50)
        )
        async with app:
            id = await app.debates.create(config)
            receipt = await app.debates.start(id)
            async for _ in app.debates.until_idle(id, receipt.seq - 1):
                pass
            return await app.debates.read(id)

    def sides(hearing: Hearing) -> tuple[str, ...]:
        assert TOPIC in hearing.transcript
        return hearing.participants

    debate = asyncio.run(main())

    assert debate["verdict"]["tie"] is True
    assert set(debate["verdict"]["scores"].values()) == {50}
