"""What is left of a damaged file is true: torn logs lose whole commits from their end, bad pages are noticed."""

import asyncio
import random
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from antiphon.runtime.errors import StoreCorrupt, UnknownRoot
from antiphon.runtime.records import Commit
from antiphon.stores.files import PAGE_SIZE
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_facts import read_contents
from antiphon.testing.contracts.store_samples import first_commit, letter, step, steps, task

MEMORY = Path("/dev/shm")
HEADER, FRAME = 32, 24 + PAGE_SIZE  # of a log
ROOTS = [f"tree-{n}" for n in range(6)]


@pytest.fixture
def folder():
    """A quick folder: what these tests do to files is not about disks."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


async def shown(path):
    """Everything a store on a file shows."""
    store = SqliteStore(path, durability="normal")
    await store.open()
    try:
        return await read_contents(store)
    finally:
        await store.close()


def commits():
    """Commits that change several trees each, of one page or many."""
    yield [first_commit("a"), first_commit("b", letters=(letter("a", "l0"),))]
    for n in range(1, 6):
        text = "x" * (3000 * (n % 3))
        changes = {
            "letters": (letter("b", f"l{n}", event={"type": "X", "text": text}),),
            "tasks": (task("a", f"t{n}"),),
        }
        yield [steps("a", n, taken=(f"l{n - 1}",), **changes), steps("b", n, snapshot={"n": n, "text": text})]


async def logged(folder):
    """A file with a log as a killed process leaves it, what it held after each commit, and how long the log was."""
    store = SqliteStore(folder / "live.db")
    await store.open()
    log = folder / "live.db-wal"
    history = [(log.stat().st_size, await read_contents(store))]
    for commit in commits():
        await store.commit(commit)
        history.append((log.stat().st_size, await read_contents(store)))
    for name in ("live.db", "live.db-wal"):
        shutil.copy(folder / name, folder / name.replace("live", "dead"))
    await store.close()
    return folder / "dead.db", history


async def after_a_change(path, change):
    """What a store shows when the log was changed, on a copy."""
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    log = bytearray(path.with_name("dead.db-wal").read_bytes())
    copy.with_name("copy.db-wal").write_bytes(change(log))
    copy.with_name("copy.db-shm").unlink(missing_ok=True)
    return await shown(copy)


def last_before(history, size):
    """What was committed when the log was that long."""
    return [held for end, held in history if end <= size][-1]


def test_a_torn_log_loses_the_commits_after_the_cut_as_wholes(folder):
    async def main():
        path, history = await logged(folder)
        begin = history[0][0]
        end = history[-1][0]
        frames = range(begin, end + 1, FRAME)
        assert frames[-1] == end
        for cut in sorted({*frames, *(frame + 24 for frame in frames[:-1]), *(frame - 1 for frame in frames[1:])}):
            assert await after_a_change(path, lambda log: log[:cut]) == last_before(history, cut), cut

    asyncio.run(main())


def test_a_bad_byte_in_the_log_loses_the_commits_from_there_on_as_wholes(folder):
    async def main():
        path, history = await logged(folder)
        rng = random.Random(7)
        for _ in range(40):
            place = rng.randrange(history[0][0], history[-1][0])

            def flip(log):
                log[place] ^= 1 << rng.randrange(8)
                return log

            frame = HEADER + (place - HEADER) // FRAME * FRAME
            assert await after_a_change(path, flip) == last_before(history, frame), place

    asyncio.run(main())


async def full(path):
    """A file of many pages, all of them in use."""
    store = SqliteStore(path, durability="normal")
    await store.open()
    for root in ROOTS:
        letters = tuple(letter(root, f"l{n}", event={"type": "X", "text": root * 30}) for n in range(10))
        entries = tuple(step(root, n, f"applied-{n}", value=f"{root} {n} " * 10) for n in range(2, 40))
        await store.commit([first_commit(root, letters=letters, tasks=(task(root, f"{root}/1"),))])
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
        applied = [await store.applied_seq(root, f"applied-{n}") for n in (2, 20, 39)]
        return await store.load(root), await store.entries(root), applied
    except (StoreCorrupt, UnknownRoot) as error:
        return error


async def after_damage(path, change):
    """What each tree shows when the file was changed, on a copy."""
    copy = path.with_name("copy.db")
    copy.write_bytes(change(bytearray(path.read_bytes())))
    for extra in ("copy.db-wal", "copy.db-shm"):
        path.with_name(extra).unlink(missing_ok=True)
    return await trees(copy)


def wrong(found, true):
    """The trees that show something else than they were; one may do without its snapshot, or say that it is damaged."""
    journals = {
        root: replace(saved, snapshot=None, snapshot_seq=0, entries=tuple(entries))
        for root, (saved, entries, _) in true.items()
    }
    return [
        root
        for root in ROOTS
        if not isinstance(found[root], StoreCorrupt)
        and found[root] not in (true[root], (journals[root], *true[root][1:]))
    ]


@pytest.mark.parametrize("rubbish", [b"\x00", b"\xff", b"rubbish!"], ids=["zeros", "ones", "text"])
def test_a_page_of_rubbish_is_noticed_and_harms_nobody_else(folder, rubbish):
    async def main():
        path = folder / "store.db"
        await full(path)
        true = await trees(path)
        pages = path.stat().st_size // PAGE_SIZE
        noticed = 0
        for page in range(pages):

            def spoil(data):
                data[page * PAGE_SIZE : (page + 1) * PAGE_SIZE] = (rubbish * PAGE_SIZE)[:PAGE_SIZE]
                return data

            found = await after_damage(path, spoil)
            assert wrong(found, true) == [], page
            noticed += any(isinstance(found[root], StoreCorrupt) for root in ROOTS)
        return noticed / pages

    assert asyncio.run(main()) > 0.7


def test_a_bad_byte_changes_at_most_the_tree_it_belongs_to(folder):
    async def main():
        path = folder / "store.db"
        await full(path)
        true = await trees(path)
        rng = random.Random(3)
        harmed = []
        for _ in range(60):
            place = rng.randrange(path.stat().st_size)
            bit = rng.randrange(8)

            def flip(data):
                data[place] ^= 1 << bit
                return data

            found = await after_damage(path, flip)
            harmed.append(len(wrong(found, true)))
        return harmed

    assert max(asyncio.run(main())) <= 1


@pytest.mark.parametrize(
    ("gone", "finding"), [(3, "step 3 of 'a' is missing"), (5, "journal of 'a' ends at 4, not at 5")]
)
def test_a_journal_with_a_gap_is_not_taken_for_a_whole_one(folder, gone, finding):
    path = folder / "store.db"

    async def main():
        store = SqliteStore(path)
        await store.open()
        await store.commit([first_commit("a"), steps("a", 1, 4)])
        store._db().execute(f"delete from entry where seq = {gone}")
        try:
            return await store.load("a")
        finally:
            await store.close()

    with pytest.raises(StoreCorrupt, match=finding):
        asyncio.run(main())
