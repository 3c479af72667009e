"""The SQLite store has one owner, writes on one thread, is as durable as it says, and explains what it cannot do."""

import asyncio
import os
import signal
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from antiphon.runtime.errors import StoreBusy, StoreCorrupt, StoreError
from antiphon.stores.files import PAGE_SIZE
from antiphon.stores.ownership import owner_of
from antiphon.stores.queries import load_queries
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_facts import read_contents
from antiphon.testing.contracts.store_samples import first_commit, letter, step, steps, task
from tests.stores.open_store import empty_log, use
from tests.stores.processes import owner


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


def fill(path, *roots):
    use(SqliteStore(path), lambda store: store.commit([first_commit(root) for root in roots]))
    return path


def names(path, **options):
    """The trees a new store on a file shows."""
    return [tree.root for tree in use(SqliteStore(path, **options), lambda store: store.roots())]


def beside_a_snapshot(path, size):
    """The row of an actor with a snapshot of a size, and how much its next step writes."""

    async def take(store):
        log = path.with_name(f"{path.name}-wal")
        empty_log(store)
        await store.commit([first_commit("a", snapshot={"text": "x" * size})])
        row = store._db().execute("select * from actor").fetchone()
        before = log.stat().st_size
        await store.commit([steps("a", 1, status="done")])
        return row, log.stat().st_size - before

    return use(SqliteStore(path), take)


def test_a_step_writes_no_more_beside_a_large_snapshot_than_beside_a_small_one(tmp_path):
    _, small = beside_a_snapshot(tmp_path / "small.db", 1)
    _, large = beside_a_snapshot(tmp_path / "large.db", 2_000_000)

    assert 0 < large == small


def test_the_row_that_every_commit_writes_holds_nothing_of_the_snapshot(tmp_path):
    """SQLite puts a changed row together as a whole, so each step would cost as much as the snapshot is long."""
    small, _ = beside_a_snapshot(tmp_path / "small.db", 1)
    large, _ = beside_a_snapshot(tmp_path / "large.db", 2_000_000)

    assert large == small


def test_a_step_at_which_one_task_ends_and_the_next_begins_writes_one_page_more(path):
    """As every step of an agent's loop does."""

    async def take(store):
        log = path.with_name(f"{path.name}-wal")
        empty_log(store)
        await store.commit([first_commit("a", tasks=(task("a", "t1"),))])
        sizes = [log.stat().st_size]
        for commit in (steps("a", 1), steps("a", 2, tasks=(task("a", "t2"),), ended=("t1",))):
            await store.commit([commit])
            sizes.append(log.stat().st_size)
        return sizes

    before, plain, busy = use(SqliteStore(path), take)
    assert (busy - plain) - (plain - before) == PAGE_SIZE + 24  # what the log says of a page


def pages_of(store):
    return store._db().execute("pragma page_count").fetchone()[0]


def test_a_journal_that_grows_at_its_end_fills_its_pages(path):
    """A step that begins a new page writes that, the page above it and the first one of the file, and no neighbours."""

    async def grow(store):
        log = path.with_name(f"{path.name}-wal")
        writes = []
        empty_log(store)
        long = {"type": "TOGGLE", "why": "x" * 1_000}
        await store.commit([first_commit("a")])
        empty = pages_of(store)
        for seq in range(1, 300):
            before = log.stat().st_size
            await store.commit([steps("a", seq, entries=(step("a", seq + 1, event=long),))])
            writes.append((log.stat().st_size - before) // PAGE_SIZE)
        (size,) = store._db().execute("select sum(length(body)) from entry").fetchone()
        return max(writes[20:]), (pages_of(store) - empty) * PAGE_SIZE / size

    most, over = use(SqliteStore(path), grow)
    assert (most <= 4, over < 1.2) == (True, True), (most, over)


@pytest.mark.parametrize(
    ("subject", "name", "values"),
    [
        ("queries", "entries_after", (1, 0, 10)),
        ("queries", "applied_at", (1, "l")),
        ("maintenance", "all_entries_of", (1,)),
        ("queries", "remove_entries", (1,)),
        ("maintenance", "broken_journals", ()),
        ("maintenance", "applied_letters", ()),
    ],
)
def test_what_asks_for_the_entries_of_an_actor_does_not_look_at_all_entries(path, subject, name, values):
    async def plan(store):
        found = store._db().execute(f"explain query plan {load_queries('sqlite', subject)[name]}", values).fetchall()
        return [line for *_, line in found]

    lines = [line for line in use(SqliteStore(path), plan) if "entry" in line]
    assert lines
    assert all(line.startswith("SEARCH entry") for line in lines), lines


def test_a_task_that_ended_leaves_nothing_behind(path):
    async def end(store):
        await store.commit([first_commit("a", tasks=(task("a", "t1"), task("a", "t2")))])
        await store.commit([steps("a", 1, ended=("t1",))])
        return store._db().execute("select id from task").fetchall()

    assert use(SqliteStore(path), end) == [("t2",)]


def test_a_second_process_is_told_which_one_owns_the_file(path):
    with owner(path) as process, pytest.raises(StoreBusy, match=f"in use by process {process.pid} since"):
        names(path)


def test_readers_see_what_the_owner_commits_meanwhile(path):
    async def follow(store):
        seen = [len(await store.roots())]
        for root in ("a", "b"):
            process.store(root)
            seen.append(len(await store.roots()))
        return seen

    with owner(path) as process:
        assert use(SqliteStore(path, read_only=True), follow) == [0, 1, 2]


def test_a_reader_sees_a_tree_as_it_was_at_one_moment(path):
    async def main():
        owner = SqliteStore(path)
        reader = SqliteStore(path, read_only=True)
        await owner.open()
        await owner.commit([first_commit("a")])
        await reader.open()
        ask = reader._all

        def interrupt(name, *values):
            if name == "entries_after":
                owner._transaction(lambda: owner._apply_all([steps("a", 1)]))
            return ask(name, *values)

        reader._all = interrupt
        saved = await reader.load("a")
        await reader.close()
        await owner.close()
        return saved.seq, len(saved.entries)

    assert asyncio.run(main()) == (1, 1)


def test_a_file_whose_owner_was_killed_can_be_owned_and_has_all_that_was_acknowledged(path):
    with owner(path) as process:
        for root in ("a", "b", "c"):
            process.store(root)
        process.kill()

        assert path.with_name("store.db.lock").read_text() != ""
        assert names(path) == ["a", "b", "c"]


def test_a_killed_owner_counts_no_more_before_its_parent_has_heard_of_it(path):
    with owner(path) as process:
        assert owner_of(path) == process.pid
        os.kill(process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

        assert owner_of(path) == (None if Path("/proc").is_dir() else process.pid)


def test_a_reader_needs_no_owner_to_see_what_a_killed_one_has_left_in_the_log(path):
    with owner(path) as process:
        process.store("a")
        process.kill()

        assert names(path, read_only=True) == ["a"]


def test_one_process_cannot_own_a_file_twice(path):
    async def again(store):
        with pytest.raises(StoreBusy, match=f"process {os.getpid()}"):
            await SqliteStore(path).open()

    use(SqliteStore(path), again)


def test_a_link_to_a_file_leads_to_the_same_owner(path, tmp_path):
    link = tmp_path / "link.db"
    link.symlink_to(path)

    async def again(store):
        with pytest.raises(StoreBusy):
            await SqliteStore(link).open()

    use(SqliteStore(path), again)


def test_a_file_that_could_not_be_opened_has_no_owner(path):
    path.write_bytes(b"not a database, but long enough to be looked at as one" * 20)
    store = SqliteStore(path)
    with pytest.raises(StoreCorrupt):
        asyncio.run(store.open())
    path.unlink()

    assert names(path) == []


@pytest.mark.parametrize(
    ("options", "synchronous"), [({}, 2), ({"durability": "full"}, 2), ({"durability": "normal"}, 1)]
)
def test_commits_are_synchronous_unless_the_setting_says_otherwise(path, options, synchronous):
    async def pragmas(store):
        ask = store._db().execute
        return [ask(f"pragma {name}").fetchone()[0] for name in ("journal_mode", "synchronous", "foreign_keys")]

    assert use(SqliteStore(path, **options), pragmas) == ["wal", synchronous, 1]


def test_an_unknown_durability_is_refused(path):
    with pytest.raises(ValueError, match="choose one of: full, normal"):
        SqliteStore(path, durability="off")


def test_one_thread_does_everything_and_ends_with_the_store(path):
    def threads():
        return [thread.name for thread in threading.enumerate() if thread.name.startswith("antiphon-store")]

    async def many(store):
        await store.commit([first_commit("a")])
        await asyncio.gather(
            *(store.post([letter("a", str(n))]) for n in range(20)), *(store.load("a") for _ in range(20))
        )
        return threads()

    assert len(use(SqliteStore(path), many)) == 1
    assert threads() == []


def test_a_closed_store_leaves_no_log_behind(path, tmp_path):
    fill(path, "a")

    assert sorted(file.name for file in tmp_path.iterdir()) == ["store.db", "store.db.lock"]


def test_files_are_for_their_owners_eyes_only(path, tmp_path):
    async def modes(store):
        await store.commit([first_commit("a")])
        return {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}

    assert use(SqliteStore(path), modes) == {0o600}


def test_a_commit_whose_caller_gave_up_is_made_as_a_whole_or_not_at_all(path):
    async def give_up(store):
        await store.commit([first_commit("a")])
        work = asyncio.create_task(store.commit([steps("a", 1, 50), first_commit("b")]))
        await asyncio.sleep(0)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        return [(tree.root, tree.seq) for tree in await store.roots()]

    assert use(SqliteStore(path), give_up) in ([("a", 1)], [("a", 51), ("b", 1)])


def test_a_reader_cannot_write(path):
    async def write(store):
        with pytest.raises(StoreError, match="opened for reading"):
            await store.commit([first_commit("b")])
        with pytest.raises(StoreError, match="opened for reading"):
            await store.post([letter("a", "l")])
        return await read_contents(store)

    assert len(use(SqliteStore(fill(path, "a"), read_only=True), write)[2]) == 1


def test_there_must_be_a_file_to_read(path):
    with pytest.raises(StoreError, match="there is no such file"):
        names(path, read_only=True)


def test_a_file_without_a_schema_cannot_be_read(path):
    sqlite3.connect(path).close()
    path.touch()

    with pytest.raises(StoreError, match="run `antiphon db migrate`"):
        names(path, read_only=True)


def test_the_file_of_another_program_is_left_alone(path):
    with sqlite3.connect(path) as connection:
        connection.execute("create table recipe (name text)")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(StoreError, match="the file of another program"):
        names(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("make", [lambda path: path / "deeper" / "store.db", lambda path: path.mkdir() or path])
def test_a_place_where_no_file_can_be_is_named(path, make):
    with pytest.raises(StoreError, match=r"cannot be written: (No such file or directory|Is a directory)"):
        names(make(path))


def test_names_with_signs_that_mean_something_in_uris_are_names(tmp_path):
    path = tmp_path / "50%?mode=memory#1.db"

    assert names(fill(path, "a"), read_only=True) == ["a"]


def test_a_store_is_opened_before_it_is_used_and_once(path):
    store = SqliteStore(path)
    with pytest.raises(StoreError, match="not open"):
        asyncio.run(store.roots())

    async def again(store):
        with pytest.raises(StoreError, match="open already"):
            await store.open()
        return await store.roots()

    assert use(store, again) == []
    asyncio.run(store.close())
