"""A store has one owner, under all names of its file and across forks; its locks end with the owner."""

import asyncio
import json
import os
import signal

import pytest

from antiphon.runtime.errors import StoreBusy
from antiphon.stores.ownership import FileLock
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_samples import first_commit
from tests.stores.open_store import use
from tests.stores.processes import owner, run, run_script


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


def names(path, **options):
    """Return the trees that a new store on a file shows."""
    return [tree.root for tree in use(SqliteStore(path, **options), lambda store: store.roots())]


def read_message(process):
    return json.loads(process.stdout.readline())


# Owns a file, has a child that waits for a line, and names it.
PARENT = """
import multiprocessing, subprocess

def wait():
    say("child", os.getpid())
    sys.stdin.readline()

def fork():
    pid = os.fork()
    if pid == 0:
        wait()
        sys.exit()  # with all that Python does at the end of a process

def fork_by_multiprocessing():
    process = multiprocessing.get_context("fork").Process(target=wait)
    process.start()

def run_with_all_descriptors():
    command = "import json, os, sys; print(json.dumps(['child', os.getpid()]), flush=True); sys.stdin.readline()"
    subprocess.Popen([sys.executable, "-c", command], close_fds=False)

async def main(start):
    store = SqliteStore(path)
    await store.open()
    await store.commit([first_commit("a")])
    start()
    signal.pause()

"""


@pytest.mark.parametrize("start", ["fork", "fork_by_multiprocessing", "run_with_all_descriptors"])
def test_a_child_of_a_killed_owner_does_not_keep_the_lock(path, start):
    with run_script(f"{PARENT}asyncio.run(main({start}))", path) as process:
        _, child = read_message(process)
        process.kill()
        process.wait()
        try:
            found = names(path)
            is_alive = os.path.exists(f"/proc/{child}") or not os.path.exists("/proc")
        finally:
            os.kill(child, signal.SIGKILL)

    assert (found, is_alive) == (["a"], True)


def test_a_child_that_ends_leaves_the_log_of_its_killed_parent_alone(path):
    log = path.with_name("store.db-wal")
    with run_script(f"{PARENT}asyncio.run(main(fork))", path) as process:
        read_message(process)
        process.kill()
        process.wait()
        before = log.read_bytes()
        process.stdin.close()
        assert process.stdout.read() == ""  # the child has ended: it had the other end

    assert log.read_bytes() == before
    assert names(path) == ["a"]


CHILD = """
def attempt(work):
    try:
        say("done", asyncio.run(work))
    except RuntimeFault as error:
        say(type(error).__name__, str(error))

def use(store):
    store._flush_s = 0.0  # the next commit is inline
    attempt(store.commit([first_commit("c")]))
    attempt(store.post([letter("a", "l")]))
    attempt(store.roots())
    attempt(store.close())
    attempt(SqliteStore(path).open())
    attempt(SqliteStore(path, read_only=True).open())

async def main():
    store = SqliteStore(path)
    await store.open()
    await store.commit([first_commit("a")])
    if os.fork() == 0:
        use(store)
        os._exit(0)  # a child that closed its copy of the event loop would stop that of its parent
    os.wait()
    await store.commit([first_commit("b")])
    say([tree.root for tree in await store.roots()], path.with_name(path.name + ".lock").read_text() != "")
    await store.close()

asyncio.run(main())
"""


def test_a_forked_child_can_neither_use_nor_open_the_store_of_its_parent(path):
    code, [*refused, parent] = run(CHILD, path)

    kinds = [kind for kind, _ in refused]
    assert (code, kinds) == (0, ["StoreError", "StoreError", "StoreError", "done", "StoreBusy", "StoreError"])
    assert all("forked" in refused[n][1] for n in (0, 1, 2, 5))
    assert parent == [["a", "b"], True]
    assert names(path) == ["a", "b"]


ORPHAN = """
def open_again():
    for options in ({}, {"read_only": True}):
        try:
            asyncio.run(SqliteStore(path, **options).open())
        except RuntimeFault as error:
            say(type(error).__name__, "forked" in str(error))
    os._exit(0)

async def main(store):
    await store.open()
    await store.commit([first_commit("a")])
    parent = os.getpid()
    if os.fork() == 0:
        os.kill(parent, signal.SIGKILL)
        while os.getppid() == parent:
            pass
        open_again()
    signal.pause()

asyncio.run(main(SqliteStore(path)))
"""


def test_a_forked_child_may_not_open_the_file_after_the_death_of_its_parent(path):
    code, refused = run(ORPHAN, path)

    assert (code, refused) == (-signal.SIGKILL, [["StoreError", True]] * 2)


def test_a_hard_link_to_a_file_in_use_is_refused(path, tmp_path):
    link = tmp_path / "link.db"
    with owner(path) as process:
        process.store("a")
        os.link(path, link)
        with pytest.raises(StoreBusy, match=r"under another name \(a hard link\)"):
            names(link)
        with pytest.raises(StoreBusy, match=r"under another name \(a hard link\)"):
            names(link, read_only=True)
        process.store("b")

    assert names(path) == ["a", "b"]


def test_a_hard_link_to_a_file_in_use_by_the_same_process_is_refused(path, tmp_path):
    async def again(store):
        os.link(path, tmp_path / "link.db")
        with pytest.raises(StoreBusy, match=r"under another name \(a hard link\)"):
            await SqliteStore(tmp_path / "link.db").open()
        await store.commit([first_commit("a")])

    use(SqliteStore(path), again)
    assert names(tmp_path / "link.db") == ["a"]


def test_a_file_that_was_closed_can_be_opened_under_each_of_its_names(path, tmp_path):
    use(SqliteStore(path), lambda store: store.commit([first_commit("a")]))
    os.link(path, tmp_path / "link.db")
    use(SqliteStore(tmp_path / "link.db"), lambda store: store.commit([first_commit("b")]))

    assert names(path) == names(tmp_path / "link.db", read_only=True) == ["a", "b"]


def test_a_second_owner_is_refused_although_the_lock_file_was_deleted(path):
    with owner(path) as process:
        path.with_name("store.db.lock").unlink()
        with pytest.raises(StoreBusy):
            names(path)
        process.store("a")


def test_an_owner_that_was_refused_leaves_the_locks_of_the_other_alone(path):
    async def refuse(store):
        for _ in range(2):
            with pytest.raises(StoreBusy):
                FileLock(path).take()

    use(SqliteStore(path), refuse)
    assert names(path) == []


def test_an_owner_that_ends_leaves_a_reader_in_its_process_the_log(path):
    """Closing a descriptor of the file would release the locks of the reader, and the next owner remove the log."""
    reader = SqliteStore(path, read_only=True)

    async def main():
        store = SqliteStore(path)
        await store.open()
        await reader.open()
        await store.close()
        with owner(path) as process:
            process.store("a")
            process.process.stdin.close()
            process.process.wait()
            roots = [tree.root for tree in await reader.roots()]
        is_kept = path.with_name("store.db-wal").exists()
        await reader.close()
        return roots, is_kept

    assert asyncio.run(main()) == (["a"], True)
