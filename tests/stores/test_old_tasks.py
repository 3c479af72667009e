"""Files and exports that have tasks that are over are taken without them; those that run go on."""

import json
import sqlite3
from pathlib import Path

import pytest

from antiphon.cli.main import main
from antiphon.runtime.errors import StoreError
from antiphon.runtime.records import Task
from antiphon.stores.archive import export, restore
from antiphon.stores.checks import check
from antiphon.stores.queries import load_migrations
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_samples import task
from tests.stores.old_files import TASKS, old_file
from tests.stores.open_store import use

EXPORT = Path(__file__).with_name("schema-4-export.jsonl")  # as the release before wrote it
RUNNING = [
    Task("i1/1/1", "a", "r1", "reply", {"n": 1}, "repeat", attempt=2, boot=3),
    Task("i2/1/2", "b", "r2", "reply", None, "once", boot=3),
]


def ignore_progress(*_):
    """Discard progress reports."""


def task_ids(path):
    """Return the ids of all rows of tasks in a file."""
    connection = sqlite3.connect(path)
    try:
        return [id for (id,) in connection.execute("select id from task order by id")]
    finally:
        connection.close()


@pytest.fixture
def old(tmp_path):
    """A file of schema 4 with tasks in every state."""
    return old_file(tmp_path / "store.db", TASKS, 4)


def test_an_old_file_keeps_the_tasks_that_run_and_drops_the_others(old):
    assert use(SqliteStore(old), lambda store: store.running_tasks()) == RUNNING
    assert task_ids(old) == ["i1/1/1", "i2/1/2"]


def test_a_tree_of_an_old_file_is_loaded_with_its_running_task(old):
    saved = use(SqliteStore(old), lambda store: store.load("a"))

    assert saved.tasks == (RUNNING[0],)


def test_migrate_brings_a_file_with_tasks_up_to_date(old, capsys):
    assert main(["db", "--store", str(old), "migrate"]) == 0
    assert capsys.readouterr().out == f"schema 4 → {load_migrations('sqlite')[-1][0]}\n"
    assert check(old, ignore_progress) == []
    assert use(SqliteStore(old, read_only=True), lambda store: store.running_tasks()) == RUNNING


def test_a_file_brought_up_to_date_has_nothing_left_of_the_table_before(old):
    main(["db", "--store", str(old), "migrate"])
    connection = sqlite3.connect(old)
    names = [name for (name,) in connection.execute("select name from sqlite_schema where tbl_name like 'task%'")]
    connection.close()

    assert names == ["task"]


def test_an_export_with_tasks_that_are_over_is_imported_without_them(tmp_path):
    counts = restore(tmp_path / "store.db", EXPORT.read_text().splitlines(), ignore_progress)

    assert {kind: count for kind, count in counts.items() if count} == {"tree": 2, "step": 4, "task": 6}
    assert task_ids(tmp_path / "store.db") == ["i-a/1/4", "i-b/1/0"]
    assert use(SqliteStore(tmp_path / "store.db"), lambda store: store.running_tasks()) == [
        task("a", "i-a/1/4", to="r4"),
        task("b", "i-b/1/0"),
    ]


def test_an_export_says_no_states_of_tasks(tmp_path):
    restore(tmp_path / "store.db", EXPORT.read_text().splitlines(), ignore_progress)
    text = "".join(export(tmp_path / "store.db", ignore_progress))

    assert '"state"' not in text
    counts = json.loads(text.splitlines()[-1])["end"]
    assert {kind: count for kind, count in counts.items() if count} == {"tree": 2, "step": 4, "task": 2}


@pytest.mark.parametrize("state", ['"asleep"', "null", '["done"]'])
def test_a_task_in_a_state_that_there_never_was_is_refused(tmp_path, state):
    text = EXPORT.read_text().replace('"state":"unknown"', f'"state":{state}')

    with pytest.raises(StoreError, match=r"line 9 .*no state of a task is named"):
        restore(tmp_path / "store.db", text.splitlines(), ignore_progress)
    assert not (tmp_path / "store.db").exists()


def test_a_task_that_is_over_must_still_be_one(tmp_path):
    text = EXPORT.read_text().replace('"attempt":1,"state":"done"', '"state":"done"')

    with pytest.raises(StoreError, match="line 6 is not a valid line of an export"):
        restore(tmp_path / "store.db", text.splitlines(), ignore_progress)


def test_only_tasks_had_states(tmp_path):
    text = EXPORT.read_text().replace('{"step":{', '{"step":{"state":"running",', 1)

    with pytest.raises(StoreError, match="line 3 is not a valid line of an export"):
        restore(tmp_path / "store.db", text.splitlines(), ignore_progress)
