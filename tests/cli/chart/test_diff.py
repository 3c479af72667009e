"""`antiphon chart diff` says what changed, and which stored runs would not restore."""

import asyncio
import json
import sys

import pytest

from antiphon import App, SqliteStore
from antiphon.cli.charts import find_machine
from antiphon.cli.main import main
from antiphon.runtime.runtime import Runtime
from tests.fixtures.charts import load_chart

ORDER = {
    "id": "order",
    "version": 1,
    "initial": "draft",
    "context": {"paid": 0},
    "states": {
        "draft": {"on": {"PAY": {"target": "packing", "actions": "note"}}},
        "packing": {"after": {"3600000": "sent"}},
        "sent": {"type": "final"},
    },
}
MODULE = """
import json
from pathlib import Path
from antiphon import assign, create_machine, from_task

note = assign({{"paid": lambda context, event: event["amount"]}})
machine = create_machine(json.loads(Path("{chart}").read_text()), actions={{"note": note}}{more})
"""


def without_draft(version=1):
    """The chart after the state `draft` got another name."""
    states = {"cart" if key == "draft" else key: state for key, state in ORDER["states"].items()}
    return {**ORDER, "version": version, "initial": "cart", "states": states}


def write(folder, name, chart, more=""):
    """A chart in a file, and a module with its machine."""
    (folder / f"{name}.json").write_text(json.dumps(chart))
    (folder / f"{name}_orders.py").write_text(MODULE.format(chart=folder / f"{name}.json", more=more))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A store with three orders, in a folder with two versions of their chart."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, "old", ORDER)
    write(tmp_path, "new", without_draft())

    async def fill():
        async with Runtime(SqliteStore(tmp_path / "s.db"), [find_machine("old_orders:machine")]) as host:
            for root in ("a", "b", "c"):
                await host.create("order", root=root)
            await host.send("b", {"type": "PAY", "amount": 7})

    asyncio.run(fill())
    yield tmp_path
    for name in ("old_orders", "new_orders"):
        sys.modules.pop(name, None)


def diff(*words):
    return main(["chart", "diff", *map(str, words)])


def test_a_change_of_behaviour_with_the_same_version_is_a_failure(folder, capsys):
    assert diff("old.json", "new.json") == 1
    assert capsys.readouterr().out.splitlines() == [
        "~ order: initial draft → cart",
        "+ state cart",
        "+ cart: PAY / note → packing",
        "- state draft",
        "stored runs:",
        "! runs in draft do not restore: no state named 'draft' inside 'order'",
        "version 1 is unchanged: a runtime refuses stored runs of a changed chart; "
        "raise version, and register the old chart beside it",
    ]


def test_a_change_with_another_version_is_none(folder, capsys):
    (folder / "new.json").write_text(json.dumps(without_draft(version=2)))

    assert diff("old.json", "new.json") == 0
    assert "version 1 → 2: stored runs stay with the old chart" in capsys.readouterr().out


def test_the_same_chart_has_no_change(folder, capsys):
    assert diff("old.json", "old.json") == 0
    assert capsys.readouterr().out == "order: no change\n"


def test_stored_runs_are_restored_with_the_new_chart(folder, capsys):
    before = (folder / "s.db").read_bytes()

    assert diff("old_orders:machine", "new_orders:machine", "--db", "s.db") == 1
    assert capsys.readouterr().out.splitlines()[6:] == [
        "version 1: 2 of 3 stored runs would not restore",
        "  a: no state named 'draft' inside 'order'",
        "  c: no state named 'draft' inside 'order'",
        "version 1: 3 runs would be refused: the chart has changed, and its version has not",
        "version 1 is unchanged: a runtime refuses stored runs of a changed chart; "
        "raise version, and register the old chart beside it",
    ]
    assert (folder / "s.db").read_bytes() == before


def test_an_old_chart_in_a_file_is_replayed_with_the_functions_of_the_new_one(folder, capsys):
    assert diff("old.json", "new_orders:machine", "--db", "s.db", "--json") == 1
    record = json.loads(capsys.readouterr().out)

    assert [(run["root"], run["problem"] is None, run["is_whole"]) for run in record["runs"]] == [
        ("a", False, True),
        ("b", True, True),
        ("c", False, True),
    ]


def test_only_the_state_is_known_where_functions_are_not(folder, capsys):
    assert diff("old.json", "new.json", "--db", "s.db") == 1
    lines = capsys.readouterr().out.splitlines()

    assert "version 1: 2 of 3 stored runs would not restore" in lines
    assert "version 1: of 3 runs only the state was tried; name OLD as module:machine" in lines


def test_a_run_that_would_wait_for_a_timer_that_was_never_set_is_broken(folder, capsys):
    chart = json.loads(json.dumps(ORDER))
    chart["states"]["packing"]["after"] = {"60000": "sent"}
    write(folder, "new", chart)

    assert diff("old_orders:machine", "new_orders:machine", "--db", "s.db") == 1
    lines = capsys.readouterr().out.splitlines()
    assert "version 1: 0 of 3 stored runs would not restore" in lines
    assert "  b: the timer 'after 60000 ms' was never set" in lines


def test_a_run_that_would_wait_for_a_child_that_was_never_started_is_broken(folder, capsys):
    chart = json.loads(json.dumps(ORDER))
    chart["states"]["packing"]["invoke"] = {"src": "pack", "onDone": "sent"}
    write(folder, "new", chart, ", actors={'pack': from_task(lambda: None)}")

    assert diff("old_orders:machine", "new_orders:machine", "--db", "s.db") == 1
    assert "  b: the child 'pack' was never started" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(("state", "code", "broken"), [("cart", 0, 0), ("nowhere", 1, 2)])
def test_runs_of_another_version_are_migrated_before(folder, capsys, state, code, broken):
    rename = f"'value': '{state}' if saved['value'] == 'draft' else saved['value']"
    write(folder, "new", without_draft(version=2), f", migrate=lambda saved, version: {{**saved, {rename}}}")

    assert diff("old_orders:machine", "new_orders:machine", "--db", "s.db") == code
    out = capsys.readouterr().out
    assert f"version 1: {broken} of 3 stored runs would not restore" in out
    assert "version 1 → 2: stored runs are migrated" in out


def test_a_store_is_read_beside_its_owner(folder, capsys):
    async def compare():
        async with Runtime(SqliteStore(folder / "s.db"), [find_machine("old_orders:machine")]):
            return await asyncio.to_thread(diff, "old_orders:machine", "old_orders:machine", "--db", "s.db")

    assert asyncio.run(compare()) == 0
    assert "version 1: 0 of 3 stored runs would not restore" in capsys.readouterr().out


def test_runs_of_child_machines_are_found_in_their_trees(tmp_path, capsys):
    async def fill():
        async with App(tmp_path / "s.db") as app:
            thread = await app.threads.create("chat", model="scripted:demo")
            await app.threads.say(thread, "Hello")
            await app.threads.until_idle(thread)

    asyncio.run(fill())
    chart = load_chart("flow")
    text = json.dumps({**chart, "version": 2}).replace("streaming", "talking")
    (tmp_path / "new.json").write_text(text)

    assert diff("chat", tmp_path / "new.json", "--db", tmp_path / "s.db", "--json") == 1
    [run] = json.loads(capsys.readouterr().out)["runs"]
    assert (run["path"], run["problem"]) == ("chat", "no state named 'streaming' inside 'chat'")


def test_a_picture_of_the_changes(folder, capsys):
    assert diff("old.json", "new.json", "--as", "ladder") == 1
    assert capsys.readouterr().out.startswith("<svg ")


def test_a_store_that_does_not_exist_is_wrong_usage(folder, capsys):
    assert diff("old.json", "new.json", "--db", "gone.db") == 2
    assert "gone.db: store not found" in capsys.readouterr().err
