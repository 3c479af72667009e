"""Threads of all kinds behind one service: created, sent to, forked, exported and deleted, whatever their kind."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon import App, MemoryStore, SqliteStore, UnknownRoot, create_machine
from antiphon.agents import InvalidAgent
from antiphon.chart.errors import EventError, EventRefused
from antiphon.debate import InvalidConfig
from antiphon.providers import Keys, Models, ProviderError
from antiphon.runtime.records import Receipt
from antiphon.threads import Busy, NotTaken, Refused, ThreadError, UnknownThread, WrongKind, read_folder
from antiphon.threads.service import _require_taken
from tests.fixtures.debates import CONFIG

AGENT = {"name": "clerk", "whenToUse": "For books.", "systemPrompt": "You keep the books of a small shop."}
SETTINGS: dict[str, dict[str, Any]] = {
    "chat": {"model": "scripted:demo"},
    "run": {"agents": [AGENT], "model": "scripted:demo"},
    "debate": {**CONFIG, "models": ["scripted:debate"]},
}
lamp = create_machine({"id": "lamp", "initial": "off", "states": {"off": {}}})


def with_app(main: Callable[[App], Awaitable[Any]], **options: Any) -> Any:
    async def run() -> Any:
        models = Models(keys=Keys({}, "/nowhere/keys.toml"))
        async with App(MemoryStore(), models=models, **options) as app:
            return await main(app)

    return asyncio.run(run())


async def create(app: App, kind: str, **more: Any) -> str:
    return await app.threads.create(kind, **SETTINGS[kind], **more)


async def contents(app: App) -> list[Any]:
    """Return all that is stored, but for the times of the lists."""
    return [await app.runtime.store.load(tree.root) for tree in await app.runtime.roots()]


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_thread_of_any_kind_is_created_with_an_owner_and_a_title(kind: str) -> None:
    async def main(app: App) -> None:
        id = await create(app, kind, owner="ann", title="Books")
        plain = await create(app, kind)
        view = (await app.library.read(id)).view

        assert (view.kind, view.owner, view.title, view.status) == (kind, "ann", "Books", "pending")
        assert (await app.library.read(plain)).view.owner == ""
        assert (await app.threads.snapshot(id))["context"]["owner"] == "ann"

    with_app(main)


REFUSED: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("chat", {"model": "nope:x"}, ProviderError, "there is no provider 'nope'; known: anthropic"),
    ("chat", {"model": "nothing"}, ProviderError, "'nothing' is not a model reference"),
    ("chat", {"model": "openai:gpt"}, ProviderError, "no key for 'openai': set OPENAI_API_KEY, or add it to"),
    ("chat", {"model": "scripted:nobody"}, ProviderError, "cannot read the script 'nobody'"),
    ("chat", {"model": 5}, Refused, "model is 5; it must be a text"),
    ("chat", {"tools": [{"name": "saw"}]}, Refused, "this app has no tool 'saw'; known: none"),
    ("chat", {"sytem": "Be brief."}, Refused, "unknown setting 'sytem'"),
    ("chat", {"owner": 5}, EventRefused, "owner is 5: expected a text"),
    ("chat", {"tools": "saw"}, Refused, "tools is 'saw'; it must be a list of tools"),
    ("chat", {"tools": [5]}, Refused, "5 is not a tool"),
    ("chat", {"settings": {"options": 5}}, Refused, "settings.options is 5; it must be an object"),
    ("chat", {"settings": {"options": {"tools": 5}}}, Refused, "tools is 5; it must be a list of tools"),
    ("run", {"agents": 5}, Refused, "agents is 5; it must be a list of agents"),
    ("run", {"agents": ["clerk"]}, InvalidAgent, "'clerk' cannot be used: it is neither an Agent nor"),
    ("run", {"model": 5}, Refused, "model is 5; it must be a text"),
    ("run", {"arbiter": "rules"}, Refused, "arbiter is 'rules'; it must be an object"),
    ("run", {"model": "openai:gpt"}, ProviderError, "no key for 'openai'"),
    ("run", {"agents": [{**AGENT, "model": "nope:x"}]}, ProviderError, "there is no provider 'nope'"),
    ("run", {"arbiter": {"model": "nope:x"}}, ProviderError, "there is no provider 'nope'"),
    ("run", {"tools": [{"name": "saw"}]}, Refused, "this app has no tool 'saw'"),
    ("run", {"agents": []}, Refused, "a run needs at least one agent"),
    ("run", {"defaultAgent": "poet"}, Refused, "defaultAgent is 'poet', which is no agent of this run; known: clerk"),
    ("debate", {"models": ["nope:x"]}, ProviderError, "there is no provider 'nope'"),
    ("debate", {"judge": {"model": "mistral:large"}}, ProviderError, "no key for 'mistral'"),
    ("debate", {"maxRounds": 11}, InvalidConfig, "maxRounds: is 11"),
]


@pytest.mark.parametrize(("kind", "settings", "error", "problem"), REFUSED)
def test_wrong_settings_are_refused_and_nothing_is_stored(
    kind: str, settings: dict[str, Any], error: type[Exception], problem: str
) -> None:
    async def main(app: App) -> None:
        with pytest.raises(error, match=problem):
            await app.threads.create(kind, **{**SETTINGS[kind], **settings})
        assert await app.runtime.roots() == []

    with_app(main)


def test_a_kind_that_there_is_not_is_refused() -> None:
    async def main(app: App) -> None:
        with pytest.raises(Refused, match="there is no kind 'talk'; known: chat, run, debate"):
            await app.threads.create("talk")

    with_app(main)


def test_a_function_in_a_role_needs_no_model_for_it() -> None:
    async def main(app: App) -> None:
        await app.threads.create("debate", **{**SETTINGS["debate"], "judge": {"model": "mistral:large"}})
        await app.threads.create("run", **SETTINGS["run"], arbiter={"model": "mistral:large"})

    with_app(main, judge=lambda debate: None, arbiter=lambda run: None)


def test_another_model_is_checked_when_it_is_chosen() -> None:
    async def main(app: App) -> None:
        id = await create(app, "chat")
        await app.threads.say(id, "Hello")
        await app.threads.until_idle(id)
        before = await contents(app)
        with pytest.raises(ProviderError, match="no key for 'openai'"):
            await app.threads.perform(id, "use_model", model="openai:gpt")

        assert await contents(app) == before

    with_app(main)


def test_a_message_with_an_id_is_taken_once() -> None:
    async def main(app: App) -> None:
        id = await create(app, "chat")
        first = await app.threads.say(id, "Hello", id="m1")
        busy = await app.threads.say(id, "Hello", id="m1")
        await app.threads.until_idle(id)
        again = await app.threads.say(id, "Hello", id="m1")

        assert [receipt.status for receipt in (first, busy, again)] == ["accepted", "duplicate", "duplicate"]
        assert again.seq == first.seq
        assert (await app.library.read(id)).view.turns == 1

    with_app(main)


def test_an_event_with_an_id_is_taken_once() -> None:
    async def main(app: App) -> None:
        id = await create(app, "chat")
        await app.threads.send(id, {"type": "RENAME", "title": "One"}, id="e1")
        await app.threads.rename(id, "Two")
        receipt = await app.threads.send(id, {"type": "RENAME", "title": "One"}, id="e1")

        assert receipt.status == "duplicate"
        assert (await app.library.read(id)).view.title == "Two"

    with_app(main)


@pytest.mark.parametrize("id", ["", 5])
def test_an_id_of_a_letter_is_a_text(id: Any) -> None:
    async def main(app: App) -> None:
        thread = await create(app, "chat")
        with pytest.raises(EventError, match="the id of a letter is a text that is not empty"):
            await app.threads.say(thread, "Hello", id=id)
        assert await app.threads.status(thread) == "pending"

    with_app(main)


def test_a_refused_event_may_be_sent_again_under_its_id() -> None:
    async def main(app: App) -> None:
        id = await create(app, "chat")
        await app.threads.say(id, "Hello")
        with pytest.raises(Busy):
            await app.threads.say(id, "And?", id="m2")
        await app.threads.until_idle(id)

        assert (await app.threads.say(id, "And?", id="m2")).status == "accepted"

    with_app(main)


def test_a_debate_is_started_paused_resumed_and_hears_messages() -> None:
    async def main(app: App) -> None:
        id = await create(app, "debate")
        with pytest.raises(Refused, match="starts with the topic of its settings"):
            await app.threads.start(id, "Another topic")
        await app.threads.start(id)
        await app.threads.pause(id)
        await app.threads.until_idle(id)
        paused = await app.threads.status(id)
        await app.threads.say(id, "Think of the children.")

        assert await app.threads.status(id) == paused == "stopped"
        assert "Think of the children." in str(await app.threads.content(id))
        await app.threads.resume(id)
        assert await app.threads.status(id) == "running"

    with_app(main)


@pytest.mark.parametrize("kind", ["chat", "run"])
def test_chats_and_runs_cannot_be_paused(kind: str) -> None:
    async def main(app: App) -> None:
        id = await create(app, kind)
        with pytest.raises(Refused, match=f"a {kind} cannot be paused, only debates can"):
            await app.threads.pause(id)

    with_app(main)


def test_a_message_does_not_wake_a_debate() -> None:
    async def main(app: App) -> None:
        id = await create(app, "debate")
        before = await contents(app)
        with pytest.raises(Refused, match="takes no message"):
            await app.threads.begin(id, message={"text": "Hello"})
        with pytest.raises(Refused, match="is not in progress"):
            await app.threads.say(id, "Hello")

        assert await contents(app) == before

    with_app(main)


def operations(service: Any, id: str) -> list[Awaitable[Any]]:
    """Return every operation on one thread that a service has."""

    async def iterate(items: Any) -> None:
        async for _ in items:
            pass

    return [
        service.say(id, "Hello"),
        service.start(id),
        service.send(id, {"type": "STOP"}),
        service.begin(id, message={"text": "Hello"}),
        service.answer(id, "Yes"),
        service.perform(id, "reset"),
        service.stop(id),
        service.pause(id),
        service.resume(id),
        service.retry(id),
        service.rename(id, "Title"),
        service.archive(id),
        service.export(id),
        service.fork(id),
        service.delete(id),
        service.status(id),
        service.config(id),
        service.content(id),
        service.snapshot(id),
        service.cursor(id),
        service.history(id),
        iterate(service.follow(id)),
        iterate(service.steps(id)),
        iterate(service.until_idle(id)),
        _wait(service.until_idle(id)),
    ]


async def _wait(idle: Any) -> str:
    return str(await idle)


OTHERS = [(kind, other) for kind in SETTINGS for other in SETTINGS if kind != other]


@pytest.mark.parametrize(("kind", "other"), OTHERS)
def test_every_operation_of_a_kind_refuses_a_thread_of_another(kind: str, other: str) -> None:
    async def main(app: App) -> None:
        service = getattr(app, f"{kind}s")
        id = await create(app, other)
        before = await contents(app)
        own = {"chat": ["read", "next_attempt"], "run": ["read", "skip", "result"], "debate": ["read", "judge_now"]}
        calls = [*operations(service, id), *(getattr(service, name)(id) for name in own[kind])]
        for call in calls:
            with pytest.raises(WrongKind, match=f"thread '{id}' is a {other}, not a {kind}; use app.{other}s") as error:
                await call
            assert (error.value.thread, error.value.kind, error.value.expected) == (id, other, kind)

        assert await contents(app) == before

    with_app(main)


@pytest.mark.parametrize("name", ["threads", "chats", "runs", "debates"])
def test_what_is_no_thread_is_unknown_to_every_operation(name: str) -> None:
    async def main(app: App) -> None:
        service = getattr(app, name)
        await app.runtime.create("lamp", root="lamp-1")
        for call in operations(service, "nobody"):
            with pytest.raises(UnknownThread, match=f"there is no {service.noun} 'nobody'"):
                await call
        for call in operations(service, "lamp-1"):
            with pytest.raises(UnknownThread, match="runs the machine 'lamp' and is not a thread"):
                await call
        assert [tree.status for tree in await app.runtime.roots()] == ["active"]

    with_app(main, machines=[lamp])


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_fork_has_its_own_id_everywhere_and_leaves_the_other_as_it_was(kind: str) -> None:
    async def main(app: App) -> None:
        id = await create(app, kind)
        await app.threads.start(id, None if kind == "debate" else "Hello")
        await app.threads.until_idle(id)
        before = await app.runtime.snapshot(id, copy=True)
        new = await app.threads.fork(id)
        forked = str(await app.threads.snapshot(new))

        assert new != id
        assert id not in forked
        assert (await app.runtime.origin(new)).input["threadId"] == new
        assert await app.runtime.snapshot(id) == before
        assert await app.threads.status(new) == before["value"]
        assert await app.runtime.snapshot(new, 1) == await app.runtime.snapshot(new)

    with_app(main)


def test_a_fork_at_a_step_continues_from_there() -> None:
    async def main(app: App) -> None:
        id = await create(app, "chat")
        await app.threads.say(id, "Hello")
        await app.threads.until_idle(id)
        new = await app.threads.fork(id, 1)

        assert await app.threads.status(new) == "pending"
        await app.threads.say(new, "Another beginning")
        assert await app.threads.until_idle(new) == "completed"
        for step in (0, -1, 10_000, "3"):
            with pytest.raises(Refused, match=f"has no step {step!r}; it has the steps 1 to"):
                await app.threads.fork(id, step)

    with_app(main)


def test_a_fork_of_work_in_progress_is_interrupted_and_can_be_resumed() -> None:
    async def main(app: App) -> None:
        id = await create(app, "chat")
        await app.threads.say(id, "Hello")
        new = await app.threads.fork(id)

        assert await app.threads.until_idle(new) == "interrupted"
        await app.threads.resume(new)
        assert await app.threads.until_idle(new) == "completed"
        assert await app.threads.until_idle(id) == "completed"

    with_app(main)


@pytest.mark.parametrize("format", ["md", "html", "json"])
def test_a_thread_is_exported(format: str) -> None:
    async def main(app: App) -> None:
        id = await create(app, "debate")
        assert CONFIG["topic"] in await app.threads.export(id, format)
        with pytest.raises(Refused, match="there is no format 'pdf'; known: md, html, json"):
            await app.threads.export(id, "pdf")

    with_app(main)


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_deleted_thread_leaves_nothing_and_stops_working(kind: str) -> None:
    async def main(app: App) -> None:
        kept = await create(app, "chat")
        before = await contents(app)
        id = await create(app, kind)
        await app.threads.start(id, None if kind == "debate" else "Hello")
        await app.threads.delete(id)

        assert (await contents(app), app.runtime.tasks.running) == (before, 0)
        assert [view.id for view in await app.library.latest()] == [kept]
        with pytest.raises(UnknownThread):
            await app.threads.delete(id)

    with_app(main)


def test_readers_learn_that_their_thread_was_deleted() -> None:
    async def main(app: App) -> None:
        id = await create(app, "chat")
        await app.threads.say(id, "Hello")

        async def follow() -> None:
            async for _ in app.threads.follow(id):
                pass

        reading = asyncio.gather(follow(), _wait(app.threads.until_idle(id)), return_exceptions=True)
        await asyncio.sleep(0)
        await app.threads.delete(id)
        for error in await reading:
            assert isinstance(error, UnknownThread)
            assert "was deleted" in str(error) or "there is no thread" in str(error)

    with_app(main)


def test_a_quarantined_thread_is_followed_and_deleted() -> None:
    async def main(app: App) -> None:
        id = await create(app, "chat")
        async with app.runtime.trees.unloaded(id):
            await app.runtime.trees.quarantine.quarantine(id, "why")
        past, _ = await app.chats.history(id)
        with pytest.raises(WrongKind):
            await app.runs.delete(id)
        await app.chats.delete(id)

        assert len(past) == 1
        with pytest.raises(UnknownRoot):
            await app.runtime.origin(id)

    with_app(main)


def test_a_chat_of_an_archive_may_have_a_model_that_cannot_be_used_here() -> None:
    async def main(app: App) -> None:
        id = await app.chats.restore(model="openai:gpt", title="From elsewhere", owner="ann")
        assert (await app.library.read(id)).view.title == "From elsewhere"
        with pytest.raises(Refused, match="unknown setting"):
            await app.chats.restore(modle="openai:gpt")

    with_app(main)


def test_a_thread_outlives_its_app_with_its_owner(tmp_path) -> None:
    async def main() -> str:
        async with App(SqliteStore(tmp_path / "store.db")) as app:
            id = await create(app, "chat", owner="ann")
        async with App(tmp_path / "store.db") as app:
            return (await app.library.read(id)).view.owner

    assert asyncio.run(main()) == "ann"


def test_a_step_that_raised_is_an_error_with_its_reason() -> None:
    receipt = Receipt("failed", "m1", error="Traceback:\n  ...\nZeroDivisionError: division by zero")

    with pytest.raises(NotTaken, match="could not take it: ZeroDivisionError: division by zero; see: antiphon db dead"):
        _require_taken("t1", receipt)


def test_a_thread_that_has_not_begun_is_neither_resumed_nor_repeated() -> None:
    async def main() -> None:
        async with App(MemoryStore()) as app:
            thread = await app.chats.create(model="scripted:demo")
            for way in (app.threads.resume, app.threads.retry):
                with pytest.raises(Refused, match="is pending: there is nothing to"):
                    await way(thread)
            assert await app.threads.status(thread) == "pending"

    asyncio.run(main())


def test_an_empty_message_is_refused() -> None:
    async def main() -> None:
        async with App(":memory:") as app:
            chat = await app.chats.create()
            with pytest.raises(Refused, match="the message is empty"):
                await app.threads.say(chat, "")

    asyncio.run(main())


def test_a_folder_that_is_missing_brings_nothing_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(ThreadError, match="no such folder"):
        read_folder(tmp_path / "missing")
