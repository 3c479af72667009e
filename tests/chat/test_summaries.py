"""Summaries and crystals made by a model."""

import asyncio
import json
from typing import Any

import pytest

from antiphon import App, MemoryStore, create_actor, to_awaitable
from antiphon.actors.tasks import AsyncLogic
from antiphon.chat.summaries import CRYSTALLIZE, SUMMARISE, crystallizer, summarise_by_function, summariser
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


def test_a_function_summarises_messages_with_the_old_summary() -> None:
    calls: list[Any] = []

    def summarise(messages: Any, earlier: str | None) -> str:
        calls.append(([message.text for message in messages], earlier))
        return "Trees."

    output = run_logic(summarise_by_function(summarise), summary="They like trees.", messages=MESSAGES)

    assert output == {"text": "Trees."}
    assert calls == [(["Which tree grows fastest?"], "They like trees.")]


def test_a_chat_is_summarised_by_the_function_and_by_a_digest_if_it_fails() -> None:
    def chat(summariser: Any) -> list[str]:
        teller = Teller(*([TextDelta(f"answer {number} " * 60)] for number in range(6)))

        async def main() -> None:
            async with App(MemoryStore(), models=teller.models, summariser=summariser) as app:
                thread = await app.chats.create(
                    model="scripted:teller", contextLimit=600, strategy="summarise", summaries="model"
                )
                for number in range(6):
                    receipt = await app.chats.say(thread, f"question {number}")
                    async for _ in app.chats.until_idle(thread, receipt.seq - 1):
                        pass

        asyncio.run(main())
        return [message.text for message in teller.asked[-1].messages]

    async def summarise(messages: Any, earlier: str | None) -> str:
        return f"summary of {len(messages)}"

    assert any("summary of " in text for text in chat(summarise))
    failed = chat(lambda messages, earlier: 3)
    assert not any("summary of " in text for text in failed)
    assert any("question 5" in text for text in failed)
