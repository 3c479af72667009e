"""Summaries and crystals made by a model."""

import asyncio
import json
from typing import Any

import pytest

from antiphon import create_actor, to_awaitable
from antiphon.actors.tasks import AsyncLogic
from antiphon.chat.summaries import CRYSTALLIZE, SUMMARISE, crystallizer, summariser
from antiphon.messages import Usage
from antiphon.providers.base import TextDelta, UsageDelta
from tests.fixtures.chats import Teller

MESSAGES = [{"role": "user", "parts": [{"type": "text", "text": "Which tree grows fastest?"}]}]
CRYSTAL = {"title": "Trees", "summary": "A question.", "decisions": ["Plant poplars."], "artifacts": []}


def run_logic(logic: AsyncLogic, **input: Any) -> Any:
    async def main() -> Any:
        return await to_awaitable(create_actor(logic, input={"model": "scripted:teller", **input}).start())

    return asyncio.run(main())


@pytest.mark.requirement("S2.4-1")
def test_a_summary_is_asked_with_the_old_one_and_says_what_it_used() -> None:
    deltas = [TextDelta("Poplars."), UsageDelta(Usage(input=20, output=3), "teller")]
    teller = Teller(deltas)
    output = run_logic(summariser(lambda model: teller), summary="They like trees.", messages=MESSAGES)

    assert output["text"] == "Poplars."
    assert (output["usage"]["input"], output["usage"]["output"], output["costUsd"]) == (20, 3, 0.0)
    texts = [message.text for message in teller.asked[0].messages]
    assert texts == ["Earlier: They like trees.", "Which tree grows fastest?", SUMMARISE]


@pytest.mark.requirement("S2-19")
def test_a_crystal_is_data_and_is_asked_for_again_when_it_is_none() -> None:
    teller = Teller([TextDelta("Here you are!")], [TextDelta(json.dumps(CRYSTAL))])
    output = run_logic(crystallizer(lambda model: teller), messages=MESSAGES, branch="main")

    assert {key: output[key] for key in CRYSTAL} == CRYSTAL
    assert CRYSTALLIZE in [message.text for message in teller.asked[0].messages]
    assert len(teller.asked) == 2
    assert output["usage"]["output"] > 0
