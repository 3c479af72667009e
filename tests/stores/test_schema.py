"""Files of earlier versions are brought up to date, those of later ones refused; a kill in between does no harm."""

import asyncio
import signal
import sqlite3
from importlib.resources import files

import pytest

from antiphon.runtime.errors import StoreError
from antiphon.runtime.records import Commit, Entry, Letter, Origin, Task
from antiphon.stores.queries import load_migrations
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_samples import first_commit, letter
from tests.stores.old_files import old_file
from tests.stores.processes import run

NEWEST = load_migrations("sqlite")[-1][0]


def open_and(path, work):
    async def main():
        store = SqliteStore(path)
        boot = await store.open()
        try:
            return boot, await work(store)
        finally:
            await store.close()

    return asyncio.run(main())


def schema(path):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("pragma user_version").fetchone()[0]
    finally:
        connection.close()


def test_a_file_of_the_first_release_is_brought_up_to_date_and_keeps_its_data(tmp_path):
    path = old_file(tmp_path / "store.db")

    boot, saved = open_and(path, lambda store: store.load("a"))
    assert (boot, schema(path)) == (4, NEWEST)
    assert saved.origin == Origin("i1", "toggle", "1", "h1", {"topic": "tea"})
    assert (saved.seq, saved.snapshot) == (2, {"value": "off"})
    assert saved.entries == (Entry("a", 2, 12, "", {"type": "TOGGLE"}, "l1", "on"),)
    assert saved.letters == (Letter("l2", "a", {"type": "TOGGLE"}, 13, 99, timer="later"),)
    assert saved.tasks == (Task("i1/2/0", "a", "reply", "reply", {"n": 1}, "report", boot=3),)


def test_a_file_brought_up_to_date_takes_what_is_new(tmp_path):
    async def add_dead_letter(store):
        await store.commit([Commit("a", 2, 30, "quarantined", dead=((letter("a", "l9"), "why"),))])
        return await store.dead_letters("a")

    assert open_and(old_file(tmp_path / "store.db"), add_dead_letter)[1] == [(letter("a", "l9"), "why")]


def test_a_new_file_has_the_schema_that_is_written_down(tmp_path):
    """`schema.sql` is for readers: it says where all migrations lead."""
    open_and(tmp_path / "store.db", lambda store: store.roots())
    written = sqlite3.connect(":memory:")
    written.executescript((files("antiphon.stores") / "sql" / "sqlite" / "schema.sql").read_text())
    connection = sqlite3.connect(tmp_path / "store.db")

    ask = "select type, name, sql from sqlite_schema where sql is not null order by name"
    assert [plain(row) for row in connection.execute(ask)] == [plain(row) for row in written.execute(ask)]
    connection.close()
    written.close()


def plain(row):
    return [" ".join(text.split()) for text in row]


def test_a_file_of_a_later_version_is_refused(tmp_path):
    path = old_file(tmp_path / "store.db", f"pragma user_version = {NEWEST + 1};")
    before = path.read_bytes()

    with pytest.raises(StoreError, match=f"schema {NEWEST + 1}, newer than the {NEWEST} .* install the version"):
        open_and(path, lambda store: store.roots())
    assert path.read_bytes() == before


def test_a_reader_does_not_change_an_old_file(tmp_path):
    path = old_file(tmp_path / "store.db")

    with pytest.raises(StoreError, match=f"schema 1, not {NEWEST}; run `antiphon db migrate`"):
        asyncio.run(SqliteStore(path, read_only=True).open())
    assert schema(path) == 1


# Opens a store and dies when the last statement of a migration was done, before its commit.
KILLED = """
from antiphon.stores import files

doomed, connect, scripts = int(path.stem), files.connect, files.load_migrations("sqlite")

def mortal(path, durability):
    connection = connect(path, durability)
    connection.create_function("die", 0, lambda: os.kill(os.getpid(), signal.SIGKILL))
    return connection

files.connect = mortal
files.load_migrations = lambda dialect: [
    (number, script + ("select die();" if number == doomed else "")) for number, script in scripts
]
asyncio.run(SqliteStore(path).open())
"""


@pytest.mark.parametrize("doomed", [number for number, _ in load_migrations("sqlite")])
def test_a_kill_during_a_migration_leaves_the_ones_before_and_a_file_that_goes_on(tmp_path, doomed):
    path = tmp_path / f"{doomed}.db"
    code, _ = run(KILLED, path)

    assert code == -signal.SIGKILL
    assert schema(path) == doomed - 1
    assert open_and(path, lambda store: store.commit([first_commit("a")]))[0] == 1
    assert schema(path) == NEWEST


@pytest.mark.parametrize("doomed", [number for number, _ in load_migrations("sqlite") if number > 1])
def test_a_kill_while_an_old_file_is_brought_up_to_date_costs_no_data(tmp_path, doomed):
    path = old_file(tmp_path / f"{doomed}.db")
    run(KILLED, path)

    boot, saved = open_and(path, lambda store: store.load("a"))
    assert (boot, saved.seq, saved.snapshot, saved.snapshot_seq) == (4, 2, {"value": "off"}, 1)
