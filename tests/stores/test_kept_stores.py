"""The kept stores of every schema and machine version are opened, read and continued."""

import asyncio
from pathlib import Path

import pytest

from antiphon.app import App
from antiphon.chat import branch_path
from antiphon.stores.checks import check
from antiphon.threads import ThreadView
from tests.stores import kept
from tests.stores.scenes import has_status, until

LARGEST = 50_000  # bytes of a kept store, packed
every_store = pytest.mark.parametrize("name", kept.kept_names())


async def continue_chat(app: App, view: ThreadView) -> None:
    if view.status == "interrupted":
        receipt = await app.chats.resume(view.id)
    else:
        receipt = await app.chats.say(view.id, "And now?")
    await until(app.chats.follow(view.id, receipt.seq), has_status("completed"))
    last = branch_path((await app.library.read(view.id)).content)[-1]
    assert last["role"] == "assistant"


async def continue_run(app: App, view: ThreadView) -> None:
    if view.status == "completed":
        await app.runs.rename(view.id, "Greetings")
        assert (await app.library.read(view.id)).view.title == "Greetings"
        return
    receipt = await app.runs.resume(view.id)
    await until(app.runs.follow(view.id, receipt.seq), has_status("completed", "waiting"))
    while await app.runs.status(view.id) == "waiting":
        receipt = await app.runs.answer(view.id, decision="allow")
        await until(app.runs.follow(view.id, receipt.seq), has_status("completed", "waiting"))
    assert (await app.runs.read(view.id))["outcome"]["success"]


async def continue_debate(app: App, view: ThreadView) -> None:
    if view.status == "completed":
        await app.debates.rename(view.id, "Cars")
        assert (await app.library.read(view.id)).view.title == "Cars"
        return
    receipt = await app.debates.resume(view.id)
    await until(app.debates.follow(view.id, receipt.seq), has_status("completed"))
    assert (await app.debates.read(view.id))["outcome"] == "verdict"


CONTINUE = {"chat": continue_chat, "run": continue_run, "debate": continue_debate}


async def settle(app: App, view: ThreadView) -> ThreadView:
    """Wait until a thread that was running or waiting when its process was killed is interrupted."""
    if view.status == "running":
        await until(app.threads.follow(view.id), has_status("interrupted"))
    elif view.status == "waiting":
        await until(app.threads.follow(view.id), lambda activity: activity.kind == "interrupted")
    return (await app.library.read(view.id)).view


async def continue_all(app: App) -> set[str]:
    kinds = set()
    for view in await app.library.latest(archived=None):
        await CONTINUE[view.kind](app, await settle(app, view))
        kinds.add(view.kind)
    return kinds


def test_there_is_a_kept_store_of_this_schema_and_machine_version() -> None:
    name = kept.present_name()
    assert name in kept.kept_names(), (
        f"there is no kept store {name}: run `{kept.COMMAND}` and add the two files it writes; "
        "never write those of earlier schemas and versions again"
    )


@every_store
def test_a_kept_store_says_what_it_said_when_it_was_written(tmp_path: Path, name: str) -> None:
    path = kept.migrate(kept.unpack(name, tmp_path / "store.db"))
    assert asyncio.run(kept.read_all_facts(path)) == kept.expected_facts(name)


@every_store
def test_a_kept_store_is_whole_and_small(tmp_path: Path, name: str) -> None:
    assert (kept.FOLDER / f"{name}.db.xz").stat().st_size < LARGEST
    assert check(kept.migrate(kept.unpack(name, tmp_path / "store.db")), lambda done, total: None) == []


@every_store
def test_every_thread_of_a_kept_store_continues(tmp_path: Path, name: str) -> None:
    path = kept.unpack(name, tmp_path / "store.db")
    assert kept.run_on_store(path, continue_all) == set(CONTINUE)
