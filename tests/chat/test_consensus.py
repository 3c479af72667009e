"""Merges by consensus on the whole stack: the request to the model, its cost, its failure, and how it is stopped."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from antiphon import App, MemoryStore, create_actor, to_awaitable
from antiphon.chat import branch_path
from antiphon.chat.reconciler import RECONCILE, reconciler, to_request
from antiphon.errors import Code
from antiphon.messages import Usage
from antiphon.providers.base import Model, Request, TextDelta, UsageDelta
from antiphon.providers.errors import ProviderError
from antiphon.threads.errors import Refused
from tests.fixtures.chats import Teller

ANSWERS = [[TextDelta("Plant it.")], [TextDelta("South.")], [TextDelta("North.")]]
PROPOSAL = [TextDelta(" South, at the end. "), UsageDelta(Usage(input=20, output=5), "teller")]


class Waiting(Teller):
    """A model that never gives its fourth answer."""

    async def stream(self, request: Request) -> Any:
        """Yield an answer, or nothing."""
        if not self._replies:
            await asyncio.Event().wait()
        async for delta in super().stream(request):
            yield delta


class Failing(Teller):
    """A model that is overloaded once its answers are spent."""

    async def stream(self, request: Request) -> Any:
        """Yield an answer, or fail."""
        if not self._replies:
            raise ProviderError(Code.OVERLOADED, "the model is overloaded")
        async for delta in super().stream(request):
            yield delta


@asynccontextmanager
async def merging(teller: Teller, **config: Any) -> AsyncIterator[tuple[App, str]]:
    """A chat with two branches, and the model asked to reconcile them."""
    async with App(MemoryStore(), models=teller.models) as app:
        thread = await app.threads.create("chat", model="scripted:teller", **config)
        await _say(app, thread, "A tree?")
        await app.threads.perform(thread, "fork", name="south")
        await app.threads.perform(thread, "confirm_fork")
        await _say(app, thread, "Where?")
        await app.threads.perform(thread, "switch", branch="main")
        await _say(app, thread, "Which side?")
        await app.threads.perform(thread, "merge", source="south", strategy="consensus")
        yield app, thread


async def _say(app: App, thread: str, text: str) -> None:
    await app.threads.say(thread, text)
    await app.threads.until_idle(thread)


async def proposal_of(app: App, thread: str) -> Any:
    return (await app.library.read(thread)).content["merge"]["proposal"]


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def patient() -> None:
        async with asyncio.timeout(20):
            await main()

    asyncio.run(patient())


@pytest.mark.requirement("S2-59")
def test_the_proposal_of_a_model_is_shown_and_confirmed() -> None:
    teller = Teller(*ANSWERS, PROPOSAL)

    async def main() -> None:
        async with merging(teller) as (app, thread):
            kinds = [activity.kind async for activity in app.threads.until_idle(thread)]
            proposal = await proposal_of(app, thread)
            chat = await app.threads.perform(thread, "confirm_merge")

            assert kinds[-2:] == ["proposal_requested", "merge_proposed"]
            assert (proposal["text"], proposal["usage"]["input"]) == ("South, at the end.", 20)
            assert branch_path(chat)[-1]["parts"][0]["text"] == "South, at the end."
            assert chat["metrics"]["inputTokens"] >= 20

    run(main)
    *shared, question = teller.asked[-1].messages
    assert [message.text for message in shared] == ["A tree?", "Plant it."]
    assert question.text.startswith(RECONCILE)
    assert "Branch main:\n> user: Which side?\n> assistant: North." in question.text
    assert "Branch south:\n> user: Where?\n> assistant: South." in question.text


@pytest.mark.requirement("S2-59")
def test_a_model_that_fails_is_reported_and_the_merge_is_resolved_otherwise() -> None:
    async def main() -> None:
        async with merging(Failing(*ANSWERS)) as (app, thread):
            await app.threads.until_idle(thread)
            error = (await proposal_of(app, thread))["error"]
            with pytest.raises(Refused, match="there is no proposal; ask again or write one"):
                await app.threads.perform(thread, "confirm_merge")
            await app.threads.perform(thread, "propose", text="Our own words.")
            chat = await app.threads.perform(thread, "confirm_merge")

            assert (error["code"], error["recoverable"]) == (Code.OVERLOADED, True)
            assert branch_path(chat)[-1]["parts"][0]["text"] == "Our own words."

    run(main)


@pytest.mark.requirement("S2-59", "X-5")
@pytest.mark.parametrize("end", ["stop", "cancel_merge"])
def test_a_model_that_does_not_answer_is_stopped(end: str) -> None:
    async def main() -> None:
        async with merging(Waiting(*ANSWERS)) as (app, thread):
            if end == "stop":
                await app.threads.stop(thread)
            else:
                await app.threads.perform(thread, end)
            await app.threads.until_idle(thread)
            chat = (await app.library.read(thread)).content

            assert app.runtime.tasks.running == 0
            assert [*chat["branches"]] == ["main", "south"]
            assert (chat["merge"] is None) == (end == "cancel_merge")

    run(main)


def test_nothing_is_said_and_nothing_else_stopped_while_a_merge_is_planned() -> None:
    async def main() -> None:
        async with merging(Teller(*ANSWERS, PROPOSAL)) as (app, thread):
            await app.threads.until_idle(thread)
            with pytest.raises(Refused, match="has a planned merge; confirm it"):
                await app.threads.say(thread, "And now?")
            with pytest.raises(Refused):
                await app.threads.stop(thread)

            assert await app.threads.status(thread) == "completed"

    run(main)


@pytest.mark.requirement("X-3")
@pytest.mark.parametrize("budget_usd", [None, 1])
def test_with_a_limit_of_cost_a_model_without_a_price_is_not_asked(budget_usd: float | None) -> None:
    teller = Teller(PROPOSAL)
    teller.model = Model("nobody:teller", "nobody", "teller")
    input = {"model": "nobody:teller", "system": None, "budgetUsd": budget_usd, "messages": [], "branches": []}
    logic = reconciler(lambda reference: teller)

    async def main() -> Any:
        return await to_awaitable(create_actor(logic, input=input).start())

    if budget_usd is None:
        assert asyncio.run(main())["costUsd"] is None
    else:
        with pytest.raises(ProviderError) as caught:
            asyncio.run(main())
        assert (caught.value.code, teller.asked) == (Code.UNPRICED, [])


def test_calls_results_and_images_are_quoted() -> None:
    parts = [
        {"type": "toolCall", "id": "t", "name": "look", "arguments": "{}"},
        {"type": "toolResult", "callId": "t", "parts": [{"type": "text", "text": "one\ntwo"}]},
        {"type": "image", "mediaType": "image/png", "data": "AA=="},
        {"type": "thinking", "text": "hm"},
    ]
    branch = {"name": "a", "messages": [{"role": "assistant", "parts": parts}]}
    request = to_request({"system": "Be brief.", "messages": [], "branches": [branch]})

    assert request.messages[0].text == "Be brief."
    assert request.messages[1].text.endswith("> assistant: calls look({})\n> one\n> two\n> [an image]")
