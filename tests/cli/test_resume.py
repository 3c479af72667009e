"""`antiphon resume` opens a thread of any kind in its own screen; what has ended is shown, and not paid again."""

import asyncio
import json
import sqlite3

import pytest

from antiphon.app import App
from tests.fixtures.command import antiphon
from tests.fixtures.screen import Screen
from tests.fixtures.scripted_team import calls, says, script

ASKED = "allow? > "
PROMPT = "\n> "
TOPIC = "Should a city close its centre to private cars?"
BEGUN = "It begins. "


@pytest.fixture
def store(tmp_path, monkeypatch):
    path = tmp_path / "store.db"
    monkeypatch.setenv("ANTIPHON_STORE", str(path))
    return path


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "work"
    path.mkdir()
    return path


def slow(tmp_path):
    return script(tmp_path, {"steps": [{"text": BEGUN}, {"delay_ms": 600_000}]})


def writer(tmp_path, *replies):
    written = says("developer", "First is written.", after="write_file")
    write = calls("developer", "write_file", {"path": "a.py", "content": "1\n"})
    return script(tmp_path, *replies, written, write, says("planner", '{"steps": ["Write"], "confidence": 0.9}'))


def listed():
    return json.loads(antiphon("ps", "--json").stdout)


def steps_of(store):
    connection = sqlite3.connect(store)
    try:
        return connection.execute("select id, seq from actor order by id").fetchall()
    finally:
        connection.close()


def killed(words, text):
    """A command in a terminal, killed when a text is shown."""
    with Screen(*words, columns=100) as screen:
        screen.until(text)
        screen.process.kill()


def test_a_killed_run_is_listed_as_interrupted_and_resumed_by_the_command_of_the_list(store, tmp_path, folder):
    model = script(tmp_path, {"steps": [{"text": BEGUN}, {"delay_ms": 600_000}]})
    killed(["run", "-m", model, "--arbiter", "rules", "--workspace", folder, "Write"], BEGUN.strip())
    (row,) = listed()
    writer(tmp_path)

    assert (row["kind"], row["status"], row["next"]) == ("run", "interrupted", f"antiphon resume {row['id']}")
    assert f"; next: antiphon resume {row['id']}" in antiphon("runs").stdout
    with Screen("resume", columns=100) as screen:
        screen.until(f"run {row['id']}: Write (interrupted); antiphon run --resume {row['id']}")
        screen.until("continuing from its last step")
        screen.until(ASKED)
        screen.type("a")
        assert screen.end()[1] == 0
    assert listed() == []


def test_a_run_that_was_killed_while_it_asked_is_listed_and_asks_again(store, tmp_path, folder):
    killed(["run", "-m", writer(tmp_path), "--arbiter", "rules", "--workspace", folder, "Write"], ASKED)
    (row,) = listed()

    assert (row["status"], row["waiting"], row["next"]) == ("interrupted", "permission", f"antiphon resume {row['id']}")
    for command in ("ps", "runs", "threads"):
        assert "interrupted (permission)" in antiphon(command).stdout
    with Screen("resume", row["id"][:6], columns=100) as screen:
        screen.until("Write (interrupted (permission)); antiphon run --resume")
        screen.until(ASKED)
        screen.type("a")
        assert screen.end()[1] == 0
    assert (folder / "a.py").read_text() == "1\n"


def test_a_killed_chat_is_opened_as_a_conversation(store, tmp_path):
    killed(["chat", "-m", slow(tmp_path), "Speak"], BEGUN.strip())
    (row,) = listed()

    assert (row["kind"], row["status"]) == ("chat", "interrupted")
    with Screen("resume", columns=100) as screen:
        screen.until("the last reply was lost when its process ended; /resume continues it")
        screen.until(PROMPT)
        screen.press(b"\x04")
        assert screen.end()[1] == 0


def test_a_killed_debate_is_continued(store, tmp_path):
    killed(["debate", TOPIC, "-m", slow(tmp_path), "--rounds", "1"], BEGUN.strip())
    (row,) = listed()

    assert (row["kind"], row["status"], row["title"]) == ("debate", "interrupted", TOPIC)
    assert f"; next: antiphon resume {row['id']}" in antiphon("debates").stdout
    with Screen("resume", "last", columns=100) as screen:
        screen.until(f"antiphon debate --resume {row['id']}")
        screen.until(BEGUN.strip())
        screen.press(b"\x03")
        screen.press(b"\x03")
        assert screen.end()[1] == 130


def test_what_has_ended_is_shown_and_not_paid_again(store, tmp_path, folder):
    ran = antiphon(
        "run", "-m", writer(tmp_path), "--arbiter", "rules", "--mode", "auto-edit", "--workspace", folder, "W"
    )
    before = steps_of(store)
    shown = antiphon("resume")

    assert (ran.returncode, shown.returncode, steps_of(store)) == (0, 0, before)
    assert "antiphon runs show " in shown.stderr
    assert "First is written." in shown.stdout


def test_without_an_id_the_last_unfinished_one_comes_before_a_later_one_that_is_finished(store, tmp_path):
    async def make():
        async with App(store) as app:
            debate = await app.threads.create("debate", topic=TOPIC, models=["scripted:debate"])
            await app.threads.start(debate)
            await app.threads.pause(debate)
            await app.threads.until_idle(debate)
            return debate

    debate = asyncio.run(make())
    assert antiphon("chat", "-m", "scripted:demo", "Hello").returncode == 0

    assert antiphon("resume", "last").stderr.startswith("chat ")
    assert antiphon("resume", "--no-server").stderr.startswith(f"debate {debate}: ")


def test_of_several_unfinished_ones_the_user_chooses(store):
    async def make():
        async with App(store) as app:
            for topic in ("Roses or tulips?", TOPIC, "Cats or dogs?"):
                debate = await app.threads.create("debate", topic=topic, models=["scripted:debate"])
                await app.threads.start(debate)
                await app.threads.pause(debate)
                await app.threads.until_idle(debate)

    asyncio.run(make())
    with Screen("resume", columns=100) as screen:
        screen.until_shown("Enter opens")
        rows = screen.until_shown("search: ")
        screen.press(b"\x1b")
        screen.until("antiphon resume: interrupted")
        assert screen.end()[1] == 130
    with Screen("resume", columns=100) as screen:
        screen.until_shown("search: ")
        screen.press(b"tulips")
        screen.wait(lambda: not screen.rows_with("Cats or dogs?"))
        screen.press(b"\r")
        screen.until(": Roses or tulips? (paused); antiphon debate --resume ")

    assert sum("debate  paused" in row for row in rows) == 3


def test_where_nothing_was_stored_there_is_nothing_to_resume(store):
    async def make():
        async with App(store):
            pass

    asyncio.run(make())
    refused = antiphon("resume")

    assert (refused.returncode, refused.stderr) == (
        1,
        "antiphon resume: no conversations yet; start one with: antiphon chat\n",
    )
