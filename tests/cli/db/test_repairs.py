"""Letters and trees that were set aside are listed, released, retried and discarded by commands."""

import asyncio
import json
import textwrap

import pytest

from antiphon import SqliteStore, assign, create_machine, raise_
from antiphon.cli.main import main
from antiphon.runtime.runtime import Runtime


def explode(*arguments):
    raise ValueError("boom")


def machine(add=None):
    return create_machine(
        {
            "id": "m",
            "context": {"n": 0},
            "on": {
                "ADD": {"actions": "add"},
                "LATER": {"actions": raise_({"type": "ADD"}, delay=0)},
                "SHOUT": {"actions": "shout"},
            },
        },
        actions={"add": assign(add or explode), "shout": explode},
    )


def add_one(context, event):
    return {"n": context["n"] + 1}


def run(path, work, *machines):
    async def call():
        async with Runtime(SqliteStore(path), machines) as runtime:
            return await work(runtime)

    return asyncio.run(call())


@pytest.fixture
def path(tmp_path):
    """A store with a dead letter in one tree, another tree that is quarantined, and an incident."""
    path = tmp_path / "store.db"

    async def work(runtime):
        await runtime.create("m", root="a")
        await runtime.create("m", root="b")
        await runtime.send("a", {"type": "SHOUT"})
        await runtime.send("a", {"type": "ADD"}, id="bad")
        await runtime.send("b", {"type": "LATER"})
        while (await runtime.store.load("b")).status == "active":
            await asyncio.sleep(0.01)

    run(path, work, machine())
    return path


@pytest.fixture
def db(path, capsys):
    def call(*arguments):
        code = main(["db", "--store", str(path), *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_dead_letters_and_incidents_are_listed_with_the_error(db):
    code, out, _ = db("dead")
    assert code == 0
    assert "a  bad  ADD\n    ValueError: boom" in out
    assert "ValueError: boom" in db("incidents", "a")[1]
    (incident,) = json.loads(db("incidents", "a", "--json")[1])
    assert (incident["kind"], incident["seq"]) == ("action raised", 2)
    assert db("incidents", "b")[1] == "no incidents\n"


def test_a_letter_that_is_retried_is_taken_at_the_next_start(db, path):
    assert db("retry", "a", "bad")[0] == 0

    async def look(runtime):
        while (outcome := await runtime.outcome("a", "bad")).status == "waiting":
            await asyncio.sleep(0.01)
        return outcome.status, (await runtime.snapshot("a"))["context"]["n"]

    assert run(path, look, machine(add_one)) == ("accepted", 1)


def test_a_letter_that_is_discarded_is_gone(db):
    assert db("discard", "a", "bad") == (0, "'bad' is deleted\n", "")
    assert "bad" not in db("dead", "--root", "a")[1]
    code, _, err = db("discard", "a", "bad")
    assert code == 2
    assert "has no dead letter 'bad'" in err


def test_a_tree_that_is_released_continues_at_the_next_start(db, path):
    assert db("release", "b")[0] == 0

    async def look(runtime):
        while (await runtime.snapshot("b"))["context"]["n"] == 0:
            await asyncio.sleep(0.01)
        return (await runtime.send("b", {"type": "ADD"})).status

    assert run(path, look, machine(add_one)) == "accepted"
    code, _, err = db("release", "b")
    assert code == 1
    assert "'b' is not quarantined" in err


def test_a_tree_whose_steps_replay_differently_is_accepted_with_the_machine_that_is_named(
    db, path, tmp_path, monkeypatch
):
    async def work(runtime):
        await runtime.create("m", root="c")
        await runtime.send("c", {"type": "ADD"})

    run(path, work, machine(add_one))

    async def load(runtime):
        with pytest.raises(Exception, match="replaying it gives"):
            await runtime.snapshot("c")

    run(path, load, machine(lambda context, event: {"n": 50}))
    module = """
        from antiphon import assign
        from tests.cli.db.test_repairs import machine
        changed = machine(lambda context, event: {"n": 50})
    """
    (tmp_path / "changed_machine.py").write_text(textwrap.dedent(module))
    monkeypatch.chdir(tmp_path)
    assert db("release", "c", "--accept", "--against", "changed_machine:changed")[0] == 0

    async def look(runtime):
        return (await runtime.snapshot("c"))["context"]["n"]

    assert run(path, look, machine(lambda context, event: {"n": 50})) == 50


def test_an_unknown_tree_is_refused(db):
    for command in (("release", "x"), ("retry", "x", "y"), ("discard", "x", "y"), ("incidents", "x")):
        code, _, err = db(*command)
        assert code == 2
        assert "there is no root actor 'x'" in err
