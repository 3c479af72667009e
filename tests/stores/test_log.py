"""A store that has lost its log says so, and goes on without it only when that is accepted."""

import asyncio
import os
import shutil
import sqlite3

import pytest

from antiphon.runtime.errors import StoreCorrupt, StoreError
from antiphon.stores import maintenance
from antiphon.stores.checks import check
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_samples import first_commit
from tests.stores.open_store import use
from tests.stores.processes import owner

NAMES = ("store.db", "store.db-wal", "store.db-shm", "store.db.lock")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def crashed(path):
    """A store whose owner was killed: `a` is in the file, `b` in the log only."""
    use(SqliteStore(path), lambda store: store.commit([first_commit("a")]))
    with owner(path) as process:
        process.store("b")
        process.kill()
    return path


def names(path, **options):
    """Return the trees that a new store on a file shows."""
    return [tree.root for tree in use(SqliteStore(path, **options), lambda store: store.roots())]


def silent(done, total):
    """Report no progress."""


def test_a_file_that_lost_its_log_in_a_crash_is_refused_and_stays_as_it_is(crashed):
    crashed.with_name("store.db-wal").unlink()
    before = crashed.read_bytes()

    for _ in range(2):
        with pytest.raises(StoreCorrupt, match=r"the log store\.db-wal is missing.*`antiphon db accept-loss`"):
            names(crashed)
    assert crashed.read_bytes() == before


def test_a_log_that_a_reader_creates_is_not_taken_for_the_missing_one(crashed):
    crashed.with_name("store.db-wal").unlink()
    assert names(crashed, read_only=True) == ["a"]

    with pytest.raises(StoreCorrupt, match="is missing"):
        names(crashed)


@pytest.mark.parametrize("extra", [[], ["store.db.lock"]])
def test_a_file_that_was_moved_without_its_log_is_refused(crashed, tmp_path, extra):
    (tmp_path / "new").mkdir()
    for name in ("store.db", *extra):
        shutil.move(tmp_path / name, tmp_path / "new" / name)

    with pytest.raises(StoreCorrupt, match="is missing"):
        names(tmp_path / "new" / "store.db")


def test_a_log_that_is_put_back_is_used(crashed, tmp_path):
    shutil.move(tmp_path / "store.db-wal", tmp_path / "mislaid")
    with pytest.raises(StoreCorrupt, match="is missing"):
        names(crashed)
    shutil.move(tmp_path / "mislaid", tmp_path / "store.db-wal")

    assert names(crashed) == ["a", "b"]


def test_a_file_that_was_copied_with_its_log_only_is_complete(crashed, tmp_path):
    (tmp_path / "new").mkdir()
    for name in ("store.db", "store.db-wal"):
        shutil.copy(tmp_path / name, tmp_path / "new" / name)

    assert names(tmp_path / "new" / "store.db") == ["a", "b"]


def test_a_file_that_was_closed_needs_no_log(path, tmp_path):
    use(SqliteStore(path), lambda store: store.commit([first_commit("a")]))
    shutil.copy(path, tmp_path / "copy.db")

    assert names(tmp_path / "copy.db") == names(path) == ["a"]


def test_a_log_that_a_reader_kept_from_being_removed_is_missed_too(path, tmp_path):
    async def main():
        store = SqliteStore(path)
        reader = SqliteStore(path, read_only=True)
        await store.open()
        await reader.open()
        await store.commit([first_commit("a")])
        await store.close()
        shutil.copy(path, tmp_path / "copy.db")
        await reader.close()

    asyncio.run(main())
    assert names(path) == ["a"]
    with pytest.raises(StoreCorrupt, match="is missing"):
        names(tmp_path / "copy.db")


def test_an_open_that_fails_leaves_the_log_in_place(crashed, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("antiphon.stores.files.load_migrations", lambda dialect: [(1, "")])
        with pytest.raises(StoreError, match="newer than the 1"):
            names(crashed)

    assert names(crashed) == ["a", "b"]


@pytest.mark.parametrize("maintain", [maintenance.vacuum, maintenance.migrate])
def test_maintenance_after_a_crash_leaves_nothing_that_is_missed(crashed, maintain):
    maintain(crashed)

    assert sorted(file.name for file in crashed.parent.iterdir()) == ["store.db", "store.db.lock"]
    assert names(crashed) == ["a", "b"]


def test_a_flag_that_an_earlier_version_has_left_is_ignored(crashed):
    """It begins a boot and closes the file, but does not know the flag."""
    with sqlite3.connect(crashed) as connection:
        connection.execute("update meta set value = value + 1 where key = 'epoch'")
    connection.close()

    assert names(crashed) == ["a", "b"]


def test_a_check_reports_a_missing_log(crashed):
    assert check(crashed, silent) == []
    crashed.with_name("store.db-wal").unlink()

    assert [problem.what.split(": ")[1].split(",")[0] for problem in check(crashed, silent)] == [
        "the log store.db-wal is missing"
    ]


def test_a_loss_that_is_accepted_is_not_reported_again(crashed):
    assert maintenance.accept_loss(crashed) is False
    crashed.with_name("store.db-wal").unlink()

    assert maintenance.accept_loss(crashed) is True
    assert maintenance.accept_loss(crashed) is False
    assert names(crashed) == ["a"]


def test_a_loss_is_not_accepted_if_the_log_may_be_beside_another_name(crashed, tmp_path):
    os.link(crashed, tmp_path / "link.db")

    with pytest.raises(StoreError, match="the log may be beside one of them"):
        maintenance.accept_loss(tmp_path / "link.db")
    with pytest.raises(StoreCorrupt, match="the log may be beside one of them"):
        names(tmp_path / "link.db")
    assert names(crashed) == ["a", "b"]


def test_a_backup_of_an_open_store_needs_no_log(path, tmp_path):
    async def copy(store):
        await store.commit([first_commit("a")])
        maintenance.backup(path, tmp_path / "copy.db", silent)

    use(SqliteStore(path), copy)
    assert names(tmp_path / "copy.db") == ["a"]


def test_a_backup_of_a_store_without_its_log_says_so_too(crashed, tmp_path):
    crashed.with_name("store.db-wal").unlink()
    maintenance.backup(crashed, tmp_path / "copy.db", silent)

    with pytest.raises(StoreCorrupt, match="is missing"):
        names(tmp_path / "copy.db")
