"""Threads whose model lacks a key (error 2003): they wait for a person, of every kind, and continue where they were."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.agents import Agent
from antiphon.app import App
from antiphon.threads.errors import Refused
from tests.fixtures.scripted_team import script

NO_KEY = {"error": "2003", "message": "no key: set SOME_API_KEY", "times": 1}
RULES = {"kind": "rules"}
PAINTER = Agent(name="painter", when_to_use="always", system_prompt="Paint.")


def in_app(folder: Path, scenario: Callable[[App], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with App(folder / "threads.db") as app:
            return await scenario(app)

    return asyncio.run(run())


def once_keyless(folder: Path, text: str = "Done.") -> str:
    """A model that lacks its key at the first request."""
    folder.mkdir(exist_ok=True)
    return script(folder, {"when": "else", "steps": [{"text": text}]}, {"steps": [NO_KEY, {"text": text}]})


async def keyless_run(app: App, folder: Path, **settings: Any) -> tuple[str, str]:
    run = await app.runs.create([PAINTER], **{"model": once_keyless(folder), "arbiter": RULES, **settings})
    await app.runs.start(run, "Paint it.")
    return run, await app.threads.until_idle(run)


async def answered(app: App, thread: str) -> str:
    """Answer a thread until it waits no more; every conversation with a model lacks the key once."""
    for _ in range(8):
        if await app.threads.until_idle(thread) == "waiting":
            await app.threads.answer(thread)
    return await app.threads.until_idle(thread)


def test_a_chat_waits_with_the_error_as_its_request(tmp_path: Path) -> None:
    async def scenario(app: App) -> tuple[str, list[Any]]:
        chat = await app.chats.create(model=once_keyless(tmp_path))
        await app.chats.say(chat, "Hello")
        return await app.threads.until_idle(chat), await app.threads.requests(chat)

    status, (request,) = in_app(tmp_path, scenario)

    assert (status, request.reason, request.address) == ("waiting", "provider_error", "")
    assert request.text == NO_KEY["message"]


@pytest.mark.parametrize("text", [None, "Anything else?"])
def test_a_chat_continues_by_an_answer_or_by_another_message(tmp_path: Path, text: str | None) -> None:
    async def scenario(app: App) -> tuple[str, int]:
        chat = await app.chats.create(model=once_keyless(tmp_path))
        await app.chats.say(chat, "Hello")
        await app.threads.until_idle(chat)
        await (app.threads.answer(chat) if text is None else app.chats.say(chat, text))
        status = await app.threads.until_idle(chat)
        return status, (await app.library.read(chat)).view.turns

    assert in_app(tmp_path, scenario) == ("completed", 1 if text is None else 2)


@pytest.mark.parametrize("answer", [{"text": "sk-1234"}, {"decision": "deny"}])
def test_a_text_or_a_refusal_is_no_answer(tmp_path: Path, answer: dict[str, str]) -> None:
    async def scenario(app: App) -> str:
        chat = await app.chats.create(model=once_keyless(tmp_path))
        await app.chats.say(chat, "Hello")
        await app.threads.until_idle(chat)
        with pytest.raises(Refused, match="SOME_API_KEY"):
            await app.threads.answer(chat, **answer)
        return await app.threads.status(chat)

    assert in_app(tmp_path, scenario) == "waiting"


@pytest.mark.parametrize("how", ["retry", "resume", "answer"])
def test_a_run_continues_with_the_agent_that_lacked_the_key(tmp_path: Path, how: str) -> None:
    async def scenario(app: App) -> tuple[str, str, Any]:
        run, before = await keyless_run(app, tmp_path)
        await getattr(app.threads, how)(run)
        after = await app.threads.until_idle(run)
        return before, after, await app.runs.result(run)

    before, after, result = in_app(tmp_path, scenario)

    assert (before, after) == ("waiting", "completed")
    assert (result["iterations"], result["failures"]) == (1, 0)


def test_a_run_whose_arbiter_lacks_the_key_continues(tmp_path: Path) -> None:
    async def scenario(app: App) -> tuple[str, str]:
        arbiter = {"model": once_keyless(tmp_path / "arbiter", '{"type": "COMPLETE", "summary": "Nothing to do."}')}
        model = script(tmp_path, {"steps": [{"text": "Painted."}]})
        run, before = await keyless_run(app, tmp_path / "unused", arbiter=arbiter, model=model)
        return before, await answered(app, run)

    assert in_app(tmp_path, scenario) == ("waiting", "completed")


def test_a_run_without_a_key_takes_no_message(tmp_path: Path) -> None:
    async def scenario(app: App) -> str:
        run, _ = await keyless_run(app, tmp_path)
        with pytest.raises(Refused, match="waits for a key"):
            await app.threads.say(run, "In blue.")
        return await app.threads.status(run)

    assert in_app(tmp_path, scenario) == "waiting"


def test_an_agent_falls_back_to_a_model_that_has_a_key(tmp_path: Path) -> None:
    async def scenario(app: App) -> tuple[str, Any]:
        other = tmp_path / "other"
        other.mkdir()
        run, status = await keyless_run(app, tmp_path, fallback=[script(other, {"steps": [{"text": "Painted."}]})])
        return status, await app.runs.result(run)

    status, result = in_app(tmp_path, scenario)

    assert status == "completed"
    assert result["history"][0]["fallbacks"][0]["code"] == "2003"


def test_a_debate_continues(tmp_path: Path) -> None:
    async def scenario(app: App) -> tuple[str, str]:
        model = once_keyless(tmp_path, "Yes, it is.")
        debate = await app.debates.create(
            topic="Is water wet?", models=[model], judge={"model": "scripted:debate"}, maxRounds=1
        )
        await app.debates.start(debate)
        before = await app.threads.until_idle(debate)
        return before, await answered(app, debate)

    assert in_app(tmp_path, scenario) == ("waiting", "completed")


def test_it_waits_also_after_a_restart(tmp_path: Path) -> None:
    async def begin(app: App) -> tuple[str, str]:
        return await keyless_run(app, tmp_path)

    async def look(app: App) -> tuple[str, str | None]:
        return await app.threads.until_idle(run), (await app.threads.requests(run))[0].text

    run, _ = in_app(tmp_path, begin)

    assert in_app(tmp_path, look) == ("waiting", NO_KEY["message"])
