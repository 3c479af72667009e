"""A command that is given a thread of another kind says which, and what to use instead; nothing changes."""

import asyncio
import json
import os
import sqlite3
from pathlib import Path

import pytest

from antiphon.app import App
from antiphon.cli.lookup import next_command
from antiphon.threads import ThreadView
from tests.fixtures.command import antiphon
from tests.fixtures.screen import Screen

COMMANDS = {
    "chat": [["chat", "--thread", "{id}", "Hello"]],
    "run": [["run", "--resume", "{id}"], ["runs", "show", "{id}"], ["runs", "export", "{id}"]],
    "debate": [["debate", "--resume", "{id}"], ["debates", "show", "{id}"], ["debates", "export", "{id}"]],
}
ADVICE = {
    "chat": "show it with: antiphon threads show {id}; continue it with: antiphon chat --thread {id}",
    "run": "show it with: antiphon runs show {id}; continue it with: antiphon run --resume {id}",
    "debate": "show it with: antiphon debates show {id}; continue it with: antiphon debate --resume {id}",
}
AGENT = {"name": "clerk", "whenToUse": "For books.", "systemPrompt": "You keep the books of a small shop."}
CASES = [
    (kind, words) for kind in ADVICE for other, commands in COMMANDS.items() if other != kind for words in commands
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kinds") / "store.db"


@pytest.fixture(scope="module")
def threads(store: Path) -> dict[str, str]:
    """A paused debate, a run and a chat, in this order: the debate was used last."""

    async def main() -> dict[str, str]:
        async with App(store) as app:
            chat = await app.threads.create("chat", model="scripted:demo")
            run = await app.threads.create("run", agents=[AGENT], model="scripted:demo")
            topic = "Should a city close its centre to private cars?"
            debate = await app.threads.create("debate", topic=topic, models=["scripted:debate"])
            await app.threads.start(debate)
            await app.threads.pause(debate)
            await app.threads.until_idle(debate)
            return {"chat": chat, "run": run, "debate": debate}

    return asyncio.run(main())


def steps_of(store: Path) -> list[tuple[str, int, str]]:
    connection = sqlite3.connect(store)
    try:
        return connection.execute("select id, seq, status from actor order by id").fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize(("kind", "words"), CASES, ids=lambda value: value if isinstance(value, str) else value[0])
def test_a_thread_of_another_kind_is_refused_with_the_command_to_use(
    store: Path, threads: dict[str, str], kind: str, words: list[str]
) -> None:
    id = threads[kind]
    before = steps_of(store)
    refused = antiphon(*(word.format(id=id) for word in words), "--store", store)

    assert refused.returncode == 1
    assert ADVICE[kind].format(id=id) in refused.stderr
    assert f"thread '{id}' is a {kind}, not a " in refused.stderr
    assert steps_of(store) == before


def test_the_last_conversation_is_a_chat_although_a_debate_was_used_later(store: Path, threads: dict[str, str]) -> None:
    before = {id: seq for id, seq, _ in steps_of(store)}
    answered = antiphon("chat", "-c", "Hello", "--store", store)
    after = {id: seq for id, seq, _ in steps_of(store)}

    assert (answered.returncode, "Traceback" in answered.stderr) == (0, False)
    assert [id for id in after if after[id] != before[id]] == [threads["chat"]]


def test_where_there_is_no_chat_the_last_one_is_not_a_debate(tmp_path: Path) -> None:
    async def main() -> None:
        async with App(tmp_path / "store.db") as app:
            await app.threads.create("debate", topic="Should tea be hot or cold?", models=["scripted:debate"])

    asyncio.run(main())
    refused = antiphon("chat", "-c", "Hello", "--store", tmp_path / "store.db")

    assert (refused.returncode, refused.stderr) == (1, "antiphon chat: no chats yet; start one with: antiphon chat\n")


@pytest.mark.parametrize(
    ("kind", "status", "beside_a_process", "alone"),
    [
        ("run", "running", "attach", "resume"),
        ("run", "waiting", "attach", "resume"),
        ("run", "interrupted", "resume", "resume"),
        ("run", "completed", None, None),
        ("run", "stopped", None, None),
        ("debate", "stopped", "resume", "resume"),
        ("chat", "stopped", None, None),
    ],
)
def test_a_thread_that_is_not_finished_is_listed_with_the_command_that_continues_it(
    kind: str, status: str, beside_a_process: str | None, alone: str | None
) -> None:
    view = ThreadView("2ce251c7", kind, status, "A task", "scripted:agents", "", 1, 0.0, 0)
    commands = [next_command(view, is_unowned=is_unowned) for is_unowned in (False, True)]

    assert commands == [name and f"antiphon {name} 2ce251c7" for name in (beside_a_process, alone)]


def test_the_last_tree_is_the_one_that_was_changed_last(store: Path, threads: dict[str, str]) -> None:
    listed = json.loads(antiphon("threads", "list", "--json", "--store", store).stdout)
    deleted = antiphon("db", "delete", "last", "--store", store, typed="n\n")

    assert deleted.returncode == 0
    assert deleted.stderr.startswith(listed[0]["id"])


@pytest.mark.parametrize("command", ["threads", "runs", "debates", "agents", "db", "models", "tokens"])
def test_a_command_alone_lists(store: Path, threads: dict[str, str], command: str) -> None:
    alone = antiphon(command, env={**os.environ, "ANTIPHON_STORE": str(store)})

    assert (alone.returncode, bool(alone.stdout), alone.stderr) == (0, True, "")


@pytest.mark.parametrize("command", ["threads", "runs", "debates"])
def test_a_list_on_a_narrow_terminal_splits_no_word(store, threads, command):
    printed = antiphon(command, "--store", store).stdout

    with Screen(command, "--store", str(store), columns=40) as screen:
        shown, code = screen.end()

    assert code == 0
    assert shown.split() == printed.split()
    assert max(map(len, shown.splitlines())) <= 40
