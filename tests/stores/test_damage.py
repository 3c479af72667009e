"""What is left of a damaged file is intact: torn logs lose whole commits from their end, bad pages are noticed."""

import asyncio
import random
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from antiphon.runtime.errors import StoreCorrupt, UnknownRoot
from antiphon.runtime.index.rows import IndexChange, IndexRow, IndexText
from antiphon.runtime.records import Commit
from antiphon.stores.files import PAGE_SIZE
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_facts import read_contents
from antiphon.testing.contracts.store_samples import first_commit, letter, step, steps, task
from tests.stores.open_store import empty_log

MEMORY = Path("/dev/shm")
HEADER = 32  # of a log
FRAME = 24 + PAGE_SIZE
ROOTS = [f"tree-{n}" for n in range(6)]


@pytest.fixture
def folder():
    """Return a folder in memory: these tests are not about disks."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


async def read_file(path):
    """Open a store on a file and read its contents."""
    store = SqliteStore(path, durability="normal")
    await store.open()
    try:
        return await read_contents(store)
    finally:
        await store.close()


def commits():
    """Yield commits that change several trees each, of one page or many."""
    yield [first_commit("a"), first_commit("b", letters=(letter("a", "l0"),))]
    for n in range(1, 6):
        text = "x" * (3000 * (n % 3))
        changes = {
            "letters": (letter("b", f"l{n}", event={"type": "X", "text": text}),),
            "tasks": (task("a", f"t{n}"),),
        }
        yield [steps("a", n, taken=(f"l{n - 1}",), **changes), steps("b", n, snapshot={"n": n, "text": text})]


async def write_log(folder):
    """A file with a log as a killed process leaves it, what it contents after each commit, and how long the log was."""
    store = SqliteStore(folder / "live.db")
    await store.open()
    log = folder / "live.db-wal"
    empty_log(store)
    await store.commit([first_commit("z")])
    history = [(log.stat().st_size, await read_contents(store))]
    for commit in commits():
        await store.commit(commit)
        history.append((log.stat().st_size, await read_contents(store)))
    for name in ("live.db", "live.db-wal"):
        shutil.copy(folder / name, folder / name.replace("live", "dead"))
    await store.close()
    return folder / "dead.db", history


async def read_after_change(path, change):
    """Read the contents of a copy whose log was changed."""
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    log = bytearray(path.with_name("dead.db-wal").read_bytes())
    copy.with_name("copy.db-wal").write_bytes(change(log))
    copy.with_name("copy.db-shm").unlink(missing_ok=True)
    return await read_file(copy)


def contents_at(history, size):
    """Return the contents when the log had that size."""
    return [contents for end, contents in history if end <= size][-1]


def test_a_torn_log_loses_the_commits_after_the_cut_as_wholes(folder):
    async def main():
        path, history = await write_log(folder)
        begin = history[0][0]
        end = history[-1][0]
        frames = range(begin, end + 1, FRAME)
        assert frames[-1] == end
        for cut in sorted({*frames, *(frame + 24 for frame in frames[:-1]), *(frame - 1 for frame in frames[1:])}):
            assert await read_after_change(path, lambda log: log[:cut]) == contents_at(history, cut), cut

    asyncio.run(main())


def test_a_bad_byte_in_the_log_loses_the_commits_from_there_on_as_wholes(folder):
    async def main():
        path, history = await write_log(folder)
        rng = random.Random(7)
        for _ in range(40):
            offset = rng.randrange(history[0][0], history[-1][0])

            def flip(log):
                log[offset] ^= 1 << rng.randrange(8)
                return log

            frame = HEADER + (offset - HEADER) // FRAME * FRAME
            assert await read_after_change(path, flip) == contents_at(history, frame), offset

    asyncio.run(main())


async def write_full_file(path):
    """Write a file of many pages, all of them in use."""
    store = SqliteStore(path, durability="normal")
    await store.open()
    for root in ROOTS:
        letters = tuple(letter(root, f"l{n}", event={"type": "X", "text": root * 30}) for n in range(10))
        entries = tuple(step(root, n, f"applied-{n}", value=f"{root} {n} " * 10) for n in range(2, 40))
        texts = tuple(IndexText(str(n), n, f"text {root} {n} " * 40) for n in range(40))
        index = IndexChange(10, IndexRow("chat", "running", facts={"title": root * 300}), texts)
        await store.commit([first_commit(root, letters=letters, tasks=(task(root, f"{root}/1"),), index_change=index)])
        await store.commit([Commit(root, 1, 30, "active", entries=entries, snapshot={"text": root * 900})])
    await store.close()


async def trees(path):
    """Each tree as a store on a file shows it, or the error it raises instead."""
    store = SqliteStore(path, durability="normal")
    try:
        await store.open()
    except StoreCorrupt as error:
        return dict.fromkeys(ROOTS, error)
    try:
        return {root: await tree(store, root) for root in ROOTS}
    finally:
        await store.close()


async def tree(store, root):
    try:
        applied = [await store.outcome(root, f"applied-{n}") for n in (2, 20, 39)]
        saved = await store.load(root), await store.entries(root), applied
        await store.index.get([root])
        await store.index.search(f"text {root}", None, 20)
        return saved
    except (StoreCorrupt, UnknownRoot) as error:
        return error


async def after_damage(path, change):
    """Read all trees from a copy of the file that was changed."""
    copy = path.with_name("copy.db")
    copy.write_bytes(change(bytearray(path.read_bytes())))
    for extra in ("copy.db-wal", "copy.db-shm"):
        path.with_name(extra).unlink(missing_ok=True)
    return await trees(copy)


def changed_trees(damaged, intact):
    """Return the trees that were changed; those without their snapshot or reported as damaged do not count."""
    journals = {
        root: replace(saved, snapshot=None, snapshot_seq=0, entries=tuple(entries))
        for root, (saved, entries, _) in intact.items()
    }
    return [
        root
        for root in ROOTS
        if not isinstance(damaged[root], StoreCorrupt)
        and damaged[root] not in (intact[root], (journals[root], *intact[root][1:]))
    ]


@pytest.mark.parametrize("rubbish", [b"\x00", b"\xff", b"rubbish!"], ids=["zeros", "ones", "text"])
def test_a_page_of_rubbish_is_noticed_and_harms_nobody_else(folder, rubbish):
    async def main():
        path = folder / "store.db"
        await write_full_file(path)
        intact = await trees(path)
        pages = path.stat().st_size // PAGE_SIZE
        noticed = 0
        for page in range(pages):

            def spoil(data):
                data[page * PAGE_SIZE : (page + 1) * PAGE_SIZE] = (rubbish * PAGE_SIZE)[:PAGE_SIZE]
                return data

            damaged = await after_damage(path, spoil)
            assert changed_trees(damaged, intact) == [], page
            noticed += any(isinstance(damaged[root], StoreCorrupt) for root in ROOTS)
        return noticed / pages

    assert asyncio.run(main()) > 0.7


def test_a_bad_byte_changes_at_most_the_tree_it_belongs_to(folder):
    async def main():
        path = folder / "store.db"
        await write_full_file(path)
        intact = await trees(path)
        rng = random.Random(3)
        harmed_counts = []
        for _ in range(60):
            offset = rng.randrange(path.stat().st_size)
            bit = rng.randrange(8)

            def flip(data):
                data[offset] ^= 1 << bit
                return data

            damaged = await after_damage(path, flip)
            harmed_counts.append(len(changed_trees(damaged, intact)))
        return harmed_counts

    assert max(asyncio.run(main())) <= 1


@pytest.mark.parametrize(
    ("missing", "finding"), [(3, "step 3 of 'a' is missing"), (5, "journal of 'a' ends at 4, not at 5")]
)
def test_a_journal_with_a_gap_is_not_taken_for_a_whole_one(folder, missing, finding):
    path = folder / "store.db"

    async def main():
        store = SqliteStore(path)
        await store.open()
        await store.commit([first_commit("a"), steps("a", 1, 4)])
        store._db().execute(f"delete from entry where seq = {missing}")
        try:
            return await store.load("a")
        finally:
            await store.close()

    with pytest.raises(StoreCorrupt, match=finding):
        asyncio.run(main())
