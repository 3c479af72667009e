"""After a failed flush to disk nothing more is written, and nothing that was acknowledged is lost."""

import asyncio
import sqlite3

import pytest

from antiphon.runtime.errors import StoreError, StoreStopped
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_facts import read_contents
from antiphon.testing.contracts.store_samples import first_commit, letter, steps
from tests.stores.open_store import use


class FailingConnection:
    """Connection whose next commit fails with an error of the disk; `tests/crash/test_flush.py` has a real one."""

    def __init__(self, connection, code):
        self._connection = connection
        self._code = code

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def execute(self, statement, *values):
        """Run a statement, unless it is the commit that fails."""
        if statement == "commit" and self._code is not None:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = self._code
            self._code = None
            raise error
        return self._connection.execute(statement, *values)


def break_disk(store, code):
    """Let the next commit fail."""
    store._connection = FailingConnection(store._connection, code)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC])
@pytest.mark.parametrize("inline", [True, False])
def test_after_a_failed_flush_every_write_is_refused_and_reading_continues(path, code, inline):
    async def fail(store):
        await store.commit([first_commit("a", letters=(letter("a", "waits"),))])
        before = await read_contents(store)
        store._flush_s = 0.0 if inline else 1.0
        assert store.commits_inline is inline
        break_disk(store, code)
        with pytest.raises(StoreStopped, match=r"the outcome of the commit is unknown.*restart the program"):
            await store.commit([steps("a", 1)])
        for write in (store.commit([steps("a", 1)]), store.post([letter("a", "l")]), store.correct_times(-1)):
            with pytest.raises(StoreStopped, match=r"an earlier commit failed \(disk I/O error\)"):
                await write
        return await read_contents(store) == before

    assert use(SqliteStore(path), fail) is True


def test_a_failed_write_is_not_a_failed_flush(path):
    """Nothing of the commit can be found later, so work continues when there is space again."""

    async def fail(store):
        await store.commit([first_commit("a")])
        break_disk(store, sqlite3.SQLITE_IOERR_WRITE)
        with pytest.raises(StoreError) as caught:
            await store.commit([steps("a", 1)])
        assert not isinstance(caught.value, StoreStopped)
        await store.commit([steps("a", 1)])
        return [tree.seq for tree in await store.roots()]

    assert use(SqliteStore(path), fail) == [2]


def test_a_store_that_stopped_leaves_its_log_to_the_next_owner(path):
    async def fail(store):
        await store.commit([first_commit("a")])
        break_disk(store, sqlite3.SQLITE_IOERR_FSYNC)
        with pytest.raises(StoreStopped):
            await store.commit([steps("a", 1)])

    use(SqliteStore(path), fail)
    assert path.with_name("store.db-wal").stat().st_size > 0
    assert [tree.root for tree in use(SqliteStore(path), lambda store: store.roots())] == ["a"]
    assert not path.with_name("store.db-wal").exists()


def test_a_store_that_stopped_can_be_opened_again(path):
    async def main():
        store = SqliteStore(path)
        await store.open()
        await store.commit([first_commit("a")])
        break_disk(store, sqlite3.SQLITE_IOERR_FSYNC)
        with pytest.raises(StoreStopped):
            await store.commit([steps("a", 1)])
        await store.close()
        await store.open()
        await store.commit([steps("a", 1)])
        await store.close()

    asyncio.run(main())


def test_a_flag_that_cannot_be_removed_leaves_the_log_in_place(path, monkeypatch):
    async def main():
        store = SqliteStore(path)
        await store.open()
        await store.commit([first_commit("a")])

        def refuse(connection):
            raise sqlite3.OperationalError("database or disk is full")

        with monkeypatch.context() as patch:
            patch.setattr("antiphon.stores.files.flag_closed", refuse)
            await store.close()

    asyncio.run(main())
    assert path.with_name("store.db-wal").exists()
    assert [tree.root for tree in use(SqliteStore(path), lambda store: store.roots())] == ["a"]
