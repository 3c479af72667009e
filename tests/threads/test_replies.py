"""Replies in progress, as a thread that is opened in the middle of one has them."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from antiphon.app import App


def play(scene: Callable[[App], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        async with App(":memory:") as app:
            return await scene(app)

    return asyncio.run(main())


async def opened_at(app: App, thread: str, kind: str, number: int) -> dict[str, Any]:
    """The thread as it is after some activities of a kind."""
    seen = 0
    async for activity in app.threads.follow(thread):
        seen += activity.kind == kind
        if seen == number:
            return (await app.threads.read(thread)).to_json()
    raise AssertionError


async def opened_chat(app: App, model: str, text: str, kind: str, number: int) -> dict[str, Any]:
    thread = await app.threads.create("chat", model=model, id="t")
    await app.threads.say(thread, text)
    return await opened_at(app, thread, kind, number)


def test_a_thread_that_is_opened_in_the_middle_of_a_reply_has_its_words_so_far() -> None:
    async def scene(app: App) -> Any:
        page = await opened_chat(app, "scripted:demo", "Hello", "text", 3)
        rest = [item async for item in app.threads.until_idle("t", page["cursor"]) if item.kind == "text"]
        return page["replies"][0], rest

    reply, rest = play(scene)

    assert (reply["address"], reply["state"], reply["thinking"][:10]) == ("chat/reply", "streaming", "A greeting")
    assert rest[0].offset == len(reply["text"])
    assert (reply["text"] + "".join(item.facts["text"] for item in rest)).endswith("to see an error.")


def test_a_reply_that_is_requested_again_has_its_error_and_the_delay(tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text('replies = [{steps = [{error = "1002", message = "Overloaded", retry_after_ms = 1000}]}]')
    page = play(lambda app: opened_chat(app, f"scripted:{script}", "Hello", "retrying", 1))

    [reply] = page["replies"]
    assert (reply["state"], reply["error"]["code"]) == ("error", "1002")
    assert reply["retryMs"] >= 1000


def test_a_debate_has_a_reply_in_progress_of_each_debater() -> None:
    async def scene(app: App) -> Any:
        settings = {"topic": "Trams should be free", "models": ["scripted:debate"], "maxRounds": 1}
        thread = await app.threads.create("debate", **settings)
        await app.threads.start(thread)
        return await opened_at(app, thread, "text", 6)

    assert {reply["speaker"] for reply in play(scene)["replies"]} == {"for", "against"}


def test_a_thread_that_is_idle_has_no_reply_in_progress() -> None:
    async def scene(app: App) -> Any:
        thread = await app.threads.create("chat", model="scripted:demo")
        await app.threads.say(thread, "Hello")
        await app.threads.until_idle(thread)
        return (await app.threads.read(thread)).to_json()["replies"]

    assert play(scene) == []
