"""The judge as a service: a verdict that fits the rubric, one more question if it does not, and what it used."""

import asyncio
import json
from collections.abc import AsyncGenerator
from decimal import Decimal

import pytest

from antiphon import create_actor, create_machine
from antiphon.debate.judge import initialiser, judge, rubric
from antiphon.errors import Code
from antiphon.json_schema import Checker
from antiphon.messages import Usage
from antiphon.providers.base import Done, Model, TextDelta, UsageDelta
from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import Price, Prices

MARKS = {"for": 80, "against": 70}
GOOD = {"winner": "for", "scores": MARKS, "criteria": {"wit": MARKS}, "reasoning": "Because."}
PRICES = Prices({"scripted:*": Price(Decimal(3), Decimal(15))})
INPUT = {
    "model": "scripted:judge",
    "messages": [{"role": "user", "parts": [{"type": "text", "text": "Judge."}]}],
    "participants": ["for", "against"],
    "criteria": ["wit"],
    "options": {"temperature": None, "maxTokens": 100},
}


class Teller:
    """A model that gives answers in turn, or fails."""

    model = Model("scripted:judge", "scripted", "judge")

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    async def stream(self, request) -> AsyncGenerator:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, ProviderError):
            raise answer
        yield UsageDelta(Usage(100, 10), "judge")
        yield TextDelta(answer if isinstance(answer, str) else json.dumps(answer))
        yield Done("end")


def performed(logic, input):
    """What a service gives for an input."""

    async def main():
        machine = create_machine(
            {
                "initial": "busy",
                "context": {},
                "states": {
                    "busy": {
                        "invoke": {"src": "service", "input": input, "onDone": {"target": "done", "actions": "keep"}}
                    },
                    "done": {"type": "final"},
                },
            },
            actors={"service": logic},
            actions={"keep": lambda context, event: found.append(event["output"])},
        )
        found: list = []
        actor = create_actor(machine).start()
        while actor.get_snapshot().status != "done":
            await asyncio.sleep(0)
        return found[0]

    return asyncio.run(main())


def verdict_of(*answers):
    teller = Teller(*answers)
    return performed(judge(lambda reference: teller, PRICES), INPUT), teller


@pytest.mark.requirement("S4-09", "S4-36", "S4-95", "S4-96")
def test_a_verdict_that_fits_is_taken_with_what_it_cost():
    output, teller = verdict_of(GOOD)

    assert (output["verdict"], output["error"]) == (GOOD, None)
    assert (output["usage"]["input"], output["costUsd"]) == (100, 0.00045)
    assert output["at"] > 0
    assert len(teller.asked) == 1


@pytest.mark.requirement("S4-B28")
def test_a_verdict_that_does_not_fit_is_asked_for_once_more():
    output, teller = verdict_of({**GOOD, "scores": {"for": 180, "against": 1}}, GOOD)

    assert output["verdict"] == GOOD
    assert "180" in teller.asked[1].messages[-1].text or "scores" in teller.asked[1].messages[-1].text
    assert output["usage"]["input"] == 200


@pytest.mark.requirement("S4-B28")
def test_two_misfits_are_an_error_that_was_paid_for():
    output, _ = verdict_of("I cannot say.", {"winner": "me"})

    assert output["verdict"] is None
    assert (output["error"]["code"], output["costUsd"]) == ("9006", 0.0009)


def test_a_model_that_fails_is_told_as_an_error():
    output, _ = verdict_of(ProviderError(Code.OVERLOADED, "Too busy"))

    assert (output["verdict"], output["error"]["code"], output["error"]["recoverable"]) == (None, "1002", True)
    assert (output["usage"], output["costUsd"]) == (None, None)  # nothing came, nothing is paid for


def test_a_second_answer_that_fails_leaves_the_first_to_be_paid_for():
    output, _ = verdict_of("I cannot say.", ProviderError(Code.OVERLOADED, "Too busy"))

    assert (output["verdict"], output["usage"]["input"], output["costUsd"]) == (None, 100, 0.00045)


@pytest.mark.requirement("S4-30", "S4-36")
@pytest.mark.parametrize(
    "wrong",
    [
        {**GOOD, "scores": {"for": 80}},
        {**GOOD, "scores": {**MARKS, "stranger": 1}},
        {**GOOD, "scores": {"for": 101, "against": 0}},
        {**GOOD, "scores": {"for": -1, "against": 0}},
        {**GOOD, "winner": "stranger"},
        {**GOOD, "criteria": {}},
        {**GOOD, "reasoning": ""},
        {**GOOD, "scores": {"for": 80.5, "against": 0}},
        {**GOOD, "references": [{"participantId": "for"}]},
        {**GOOD, "references": [{"participantId": "for", "phase": "interval", "round": 1}]},
        {**GOOD, "references": [{"participantId": "for", "phase": "closing", "round": 11}]},
    ],
)
def test_the_rubric_refuses_what_is_no_verdict(wrong):
    """Scores from 0 to 100, for everyone, by every criterion."""
    assert Checker(rubric(["for", "against"], ["wit"]).schema).problems(wrong)


@pytest.mark.requirement("S4-B28")
@pytest.mark.parametrize(
    "right",
    [
        GOOD,
        {**GOOD, "winner": None},
        {**GOOD, "scores": {"for": 80.0, "against": 0}},
        {**GOOD, "references": [{"participantId": "for", "phase": "rebuttal", "round": 1}]},
    ],
)
def test_the_rubric_takes_verdicts_ties_and_references_to_turns(right):
    assert Checker(rubric(["for", "against"], ["wit"]).schema).problems(right) == []


def seat(name):
    return {"id": name, "model": {"provider": "scripted", "modelId": name}}


@pytest.mark.requirement("S4-02", "S4-83", "S4-114")
def test_models_are_opened_and_their_prices_looked_up():
    given = {"participants": [seat("a"), seat("b")], "judge": seat("c"), "costLimit": 1.0}
    output = performed(initialiser(lambda reference: Teller(), PRICES), given)

    assert output["prices"]["scripted:a"] == {"input": "3", "output": "15"}
    assert set(output["prices"]) == {"scripted:a", "scripted:b", "scripted:c"}


@pytest.mark.requirement("S4-02", "S4-B12")
def test_with_a_limit_a_model_without_a_price_is_refused():
    """What cannot be counted must not be spent."""

    class Unpriced(Teller):
        model = Model("openai:unheard-of", "openai", "unheard-of")

    given = {"participants": [seat("a"), seat("b")], "judge": seat("c")}
    logic = initialiser(lambda reference: Unpriced(), PRICES)
    assert performed(logic, {**given, "costLimit": 1.0})["error"]["type"] == "validation"
    assert performed(logic, {**given, "costLimit": None})["prices"]["scripted:a"] is None


@pytest.mark.requirement("S4-02")
def test_a_model_that_cannot_be_opened_is_named():
    def refuse(reference):
        raise ProviderError(Code.NOT_FOUND, f"no {reference}")

    given = {"participants": [seat("a")], "judge": seat("c"), "costLimit": None}
    output = performed(initialiser(refuse), given)
    assert (output["error"]["type"], output["error"]["participantId"]) == ("model_error", "a")
