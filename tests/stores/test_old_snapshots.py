"""Snapshots that were columns of their actors, in old files and exports, are kept."""

import asyncio
import json
import re
import sqlite3
from pathlib import Path

import pytest

from antiphon import assign, create_actor, create_machine
from antiphon.runtime.machines import chart_hash
from antiphon.runtime.runtime import Runtime
from antiphon.stores.archive import export, restore
from antiphon.stores.checks import check
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_facts import read_contents
from tests.stores.old_files import old_file
from tests.stores.open_store import use
from tests.stores.processes import run

EXPORT = Path(__file__).with_name("schema-3-export.jsonl")  # as the release before wrote it
BODY = '{"event":{"type":"TOGGLE"}}'
LARGE = json.dumps({"text": "x" * 1_000_000})

every_schema_before = pytest.mark.parametrize("schema", [1, 2, 3])


def tree(n, seq, snapshot_seq, snapshot):
    """A tree with its journal, its snapshot being an expression of SQL."""
    origin = f"'tree-{n}', 'i{n}', 'toggle', '1', 'h', 'null', null, null"
    times = "10, 12"
    entries = [f"insert into entry values ({n}, {step}, 10, '', null, '{BODY}');" for step in range(1, seq + 1)]
    actor = f"insert into actor values ({n}, {origin}, 'active', {seq}, {snapshot_seq}, {snapshot}, {times});"
    return "".join([actor, *entries])


TREES = "".join(
    [
        tree(1, 4, 3, """'{"value": "on", "name": "né"}'"""),
        tree(2, 2, 0, "null"),
        tree(3, 200, 200, f"'{LARGE}'"),
        tree(5, 2, 1, "cast(x'7b22ff22' as text)"),
    ]
)


def ignore_progress(*_):
    """Nobody asks how far it has come."""


@every_schema_before
def test_an_old_file_keeps_every_snapshot_and_its_sequence(tmp_path, schema):
    path = old_file(tmp_path / "store.db", TREES, schema)
    use(SqliteStore(path), lambda store: store.roots())

    connection = sqlite3.connect(path)
    snapshots = connection.execute("select actor, seq, cast(body as blob) from snapshot order by actor").fetchall()
    connection.close()
    assert snapshots == [
        (1, 3, '{"value": "on", "name": "né"}'.encode()),
        (3, 200, LARGE.encode()),
        (5, 1, b'{"\xff"'),
    ]


@every_schema_before
def test_trees_of_an_old_file_are_loaded_from_where_they_were(tmp_path, schema):
    path = old_file(tmp_path / "store.db", TREES, schema)

    async def load(store):
        return [await store.load(f"tree-{n}") for n in (1, 2, 3, 5)]

    assert [(saved.seq, saved.snapshot_seq, len(saved.entries)) for saved in use(SqliteStore(path), load)] == [
        (4, 3, 1),
        (2, 0, 2),
        (200, 200, 0),
        (2, 0, 2),
    ]


def test_only_what_was_damaged_is_damaged_in_a_file_brought_up_to_date(tmp_path):
    path = old_file(tmp_path / "store.db", TREES, 3)
    use(SqliteStore(path), lambda store: store.roots())

    assert [problem.root for problem in check(path, ignore_progress)] == ["tree-5"]


@every_schema_before
def test_a_tree_of_an_old_file_goes_on_from_its_snapshot(tmp_path, schema):
    counter = create_machine(
        {"id": "counter", "context": {"n": 0}, "on": {"ADD": {"actions": "add"}}},
        actions={"add": assign({"n": lambda context, event: context["n"] + 1})},
    )
    saved = json.dumps({**create_actor(counter).start().get_persisted_snapshot(), "context": {"n": 40}})
    rows = f"""
insert into actor
values (1, 'a', 'i', 'counter', 'null', '{chart_hash(counter)}', 'null', null, null, 'active', 3, 2, '{saved}', 10, 12);
insert into entry values (1, 1, 10, '', null, '{{"event":{{"type":"xstate.init"}}}}');
insert into entry values (1, 2, 11, '', 'l1', '{{"event":{{"type":"ADD"}}}}');
insert into entry values (1, 3, 12, '', 'l2', '{{"event":{{"type":"ADD"}}}}');
"""
    path = old_file(tmp_path / "store.db", rows, schema)

    async def add(times):
        async with Runtime(SqliteStore(path), [counter]) as runtime:
            for _ in range(times):
                await runtime.send("a", {"type": "ADD"})
            return (await runtime.snapshot("a"))["context"]["n"]

    assert asyncio.run(add(150)) == 191
    assert asyncio.run(add(1)) == 192


# Opens a store where files may not grow beyond a size, and again where they may.
CRAMPED = """
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

async def main():
    store = SqliteStore(path)
    limit(path.stat().st_size)
    try:
        await store.open()
    except RuntimeFault as error:
        say(str(error))
    limit(resource.RLIM_INFINITY)
    await store.open()
    say(len((await store.load("tree-3")).snapshot["text"]))
    await store.close()

asyncio.run(main())
"""


def test_an_old_file_that_finds_no_room_stays_as_it_is_until_there_is_some(tmp_path):
    _, [[refused], [remaining]] = run(CRAMPED, old_file(tmp_path / "store.db", TREES, 3))

    assert "nothing that was acknowledged is lost" in refused
    assert remaining == 1_000_000


def test_an_export_made_by_the_schema_before_is_imported_with_its_snapshots(tmp_path):
    path = tmp_path / "store.db"
    restore(path, EXPORT.read_text().splitlines(), ignore_progress)

    _, _, _, *trees = use(SqliteStore(path), read_contents)
    assert [(saved.root, saved.seq, saved.snapshot_seq, saved.snapshot) for saved, *_ in trees] == [
        ("a", 4, 3, {"value": "on", "text": "tea"}),
        ("b", 1, 0, None),
        ("f", 1, 1, {"value": "on"}),
    ]


def test_an_export_is_written_as_schemas_before_wrote_it_but_for_what_is_new(tmp_path):
    path = tmp_path / "store.db"
    restore(path, EXPORT.read_text().splitlines(), ignore_progress)
    changes = {
        '"state":"running",': "",
        '"incarnation"': '"history"',
        ',"snapshot_seq"': ',"mark":0,"attempts":0,"reason":null,"first":1,"snapshot_seq"',
        '"snapshot":': '"snapshot_journal":0,"snapshot_open":null,"snapshot":',
        '"due":100,': '"due":100,"arrival":0,"starts":0,',
        '"epoch":1}': '"epoch":1,"starts":0}',
        '"dead":0}': '"dead":0,"rejection":0,"incident":0}',
        '"end":{"tree":3,': '"end":{"tree":3,"snapshot":0,',
    }
    expected = EXPORT.read_text()
    for old, new in changes.items():
        expected = expected.replace(old, new)

    assert re.sub(r"@\d+\.[0-9a-f]{16}", "", "".join(export(path, ignore_progress))) == expected
