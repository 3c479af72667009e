"""What a model makes of a conversation: its summary, and its crystal."""

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


def given(logic: AsyncLogic, **input: Any) -> Any:
    async def main() -> Any:
        return await to_awaitable(create_actor(logic, input={"model": "scripted:teller", **input}).start())

    return asyncio.run(main())


@pytest.mark.requirement("S2.4-1")
def test_a_summary_is_asked_with_the_old_one_and_says_what_it_used() -> None:
    told = [TextDelta("Poplars."), UsageDelta(Usage(input=20, output=3), "teller")]
    teller = Teller(told)
    found = given(summariser(lambda model: teller), summary="They like trees.", messages=MESSAGES)

    assert found["text"] == "Poplars."
    assert (found["usage"]["input"], found["usage"]["output"], found["costUsd"]) == (20, 3, 0.0)
    asked = [message.text for message in teller.asked[0].messages]
    assert asked == ["Earlier: They like trees.", "Which tree grows fastest?", SUMMARISE]


@pytest.mark.requirement("S2-19")
def test_a_crystal_is_data_and_is_asked_for_again_when_it_is_none() -> None:
    teller = Teller([TextDelta("Here you are!")], [TextDelta(json.dumps(CRYSTAL))])
    found = given(crystallizer(lambda model: teller), messages=MESSAGES, branch="main")

    assert {key: found[key] for key in CRYSTAL} == CRYSTAL
    assert CRYSTALLIZE in [message.text for message in teller.asked[0].messages]
    assert len(teller.asked) == 2
    assert found["usage"]["output"] > 0
