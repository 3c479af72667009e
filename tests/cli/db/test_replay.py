"""`antiphon db replay` says which stored steps the code of today would take differently."""

import asyncio
import json

import pytest

from antiphon import App
from antiphon.cli.main import main
from antiphon.runtime.runtime import Runtime
from antiphon.stores.sqlite import SqliteStore
from tests.runtime.test_replaying import door

MACHINES = """
from tests.runtime.test_replaying import door

same = door()
mended = [door(is_allowed=lambda context, event: False)]
nothing = 5
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A store with a tree of a user's machine, in a folder with other versions of it."""

    async def fill():
        async with Runtime(SqliteStore(tmp_path / "s.db"), [door()]) as host:
            await host.create("door", root="a")
            await host.send("a", {"type": "OPEN"})

    asyncio.run(fill())
    (tmp_path / "doors_of_today.py").write_text(MACHINES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "s.db"


def run(path, *options):
    """The exit code of the command."""
    return main(["db", "--store", str(path), "replay", *options])


def test_same_machine_gives_no_differences(path, capsys):
    assert run(path, "--against", "doors_of_today:same") == 0
    assert capsys.readouterr().out == "a (door): 2 steps, all the same\n"


def test_changed_machine_is_reported_with_step_and_both_values(path, capsys):
    before = path.read_bytes()

    assert run(path, "--against", "doors_of_today:mended") == 1
    line = capsys.readouterr().out
    assert line.startswith("a (door): step 2 of 'a' ('OPEN') was stored with value 'open'")
    assert "replaying it gives value 'shut'" in line
    assert path.read_bytes() == before


def test_report_as_json(path, capsys):
    assert run(path, "--against", "doors_of_today:mended", "--root", "a", "--json") == 1
    [report] = json.loads(capsys.readouterr().out)
    [difference] = report["differences"]
    assert (report["root"], report["machine"], report["steps"]) == ("a", "door", 2)
    assert (difference["seq"], difference["stored"]["value"], difference["replayed"]["value"]) == (2, "open", "shut")


def test_tree_without_a_machine_is_a_problem(path, capsys):
    assert run(path) == 1
    assert "cannot be replayed: no machine 'door' is registered" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("doors_of_today", "not of the form module:name"),
        ("doors_of_today:missing", "cannot import"),
        ("no_such_module:x", "cannot import"),
        ("doors_of_today:nothing", "not a machine"),
    ],
)
def test_wrong_name_of_a_machine_is_wrong_usage(path, capsys, name, problem):
    assert run(path, "--against", name) == 2
    assert problem in capsys.readouterr().err


def test_unknown_tree_is_an_error(path, capsys):
    assert run(path, "--root", "z") == 1
    assert "no root actor 'z'" in capsys.readouterr().err


def test_own_threads_are_replayed_with_the_machines_of_antiphon(tmp_path, capsys):
    async def chat():
        async with App(tmp_path / "s.db") as app:
            thread = await app.chats.create(model="scripted:demo")
            receipt = await app.chats.say(thread, "Hello")
            async for _ in app.threads.until_idle(thread, receipt.seq - 1):
                pass

    asyncio.run(chat())

    assert run(tmp_path / "s.db") == 0
    assert "all the same" in capsys.readouterr().out
