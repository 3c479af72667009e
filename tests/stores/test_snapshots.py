"""A stored snapshot that cannot be read or is gone is done without: the journal tells the same."""

import asyncio
import sqlite3

import pytest

from antiphon import assign, create_machine
from antiphon.runtime.errors import StoreCorrupt
from antiphon.runtime.records import Commit, Entry
from antiphon.runtime.replay.time_travel import FORKED
from antiphon.runtime.runtime import Runtime
from antiphon.runtime.tree import MIGRATED
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_samples import first_commit, make_origin, step, steps

DAMAGE = ['\'{"value":"o\'', "''", "cast(x'7b22ff22' as text)"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


def store_commits(path, *commits):
    async def main():
        store = SqliteStore(path)
        await store.open()
        for commit in commits:
            await store.commit([commit])
        await store.close()

    asyncio.run(main())
    return path


def damage(path, text=DAMAGE[0]):
    change(path, f"update snapshot set body = {text}")


def lose(path):
    change(path, "delete from snapshot")


def change(path, statement):
    connection = sqlite3.connect(path)
    with connection:
        assert connection.execute(statement).rowcount == 1
    connection.close()


def load_tree(path, root="a"):
    async def main():
        store = SqliteStore(path)
        await store.open()
        try:
            return await store.load(root)
        finally:
            await store.close()

    return asyncio.run(main())


in_both_ways = pytest.mark.parametrize("spoil", [damage, lose])


@pytest.mark.parametrize("text", DAMAGE, ids=["cut short", "empty", "no text"])
def test_a_tree_with_a_damaged_snapshot_is_loaded_from_its_whole_journal(path, text):
    store_commits(path, first_commit("a"), steps("a", 1, 2, snapshot={"value": "on"}), steps("a", 3))
    damage(path, text)

    saved = load_tree(path)
    assert (saved.seq, saved.snapshot, saved.snapshot_seq) == (4, None, 0)
    assert [entry.seq for entry in saved.entries] == [1, 2, 3, 4]


@in_both_ways
def test_a_tree_that_changed_its_machine_is_loaded_from_where_it_did(path, spoil):
    move = Entry("a", 3, 30, "", {"type": MIGRATED, "from": 1, "to": 2, "snapshot": {"value": "new"}})
    moved = Commit("a", 1, 30, "active", migrated=make_origin(version=2), entries=(step("a", 2), move))
    store_commits(path, first_commit("a"), moved, steps("a", 3, 2, snapshot={"value": "newer"}))
    spoil(path)

    saved = load_tree(path)
    assert (saved.snapshot, saved.snapshot_seq) == ({"value": "new"}, 3)
    assert [entry.seq for entry in saved.entries] == [4, 5]


def test_a_fork_with_a_damaged_snapshot_says_so(path):
    store_commits(path, first_commit("a", origin=make_origin(forked_from="z", forked_seq=7), snapshot={"value": "on"}))
    damage(path)

    with pytest.raises(StoreCorrupt, match="fork it again from step 7 of 'z'"):
        load_tree(path)


def test_a_fork_without_the_snapshot_it_began_with_says_so(path):
    first = Entry("a", 1, 10, "", {"type": FORKED, "from": "z", "seq": 7})
    born = make_origin(forked_from="z", forked_seq=7)
    store_commits(path, first_commit("a", origin=born, entries=(first,), snapshot={"value": "on"}), steps("a", 1))
    lose(path)

    with pytest.raises(StoreCorrupt, match=r"the snapshot of 'a' is missing; .* fork it again from step 7 of 'z'"):
        load_tree(path)


@in_both_ways
def test_a_runtime_goes_on_from_a_damaged_snapshot_as_if_it_were_whole(path, spoil):
    counter = create_machine(
        {"id": "counter", "context": {"n": 0}, "on": {"ADD": {"actions": "add"}}},
        actions={"add": assign({"n": lambda context, event: context["n"] + 1})},
    )

    async def add(times):
        async with Runtime(SqliteStore(path), [counter]) as runtime:
            if times > 1:
                await runtime.create("counter", root="a")
            for _ in range(times):
                await runtime.send("a", {"type": "ADD"})
            return (await runtime.snapshot("a"))["context"]["n"]

    asyncio.run(add(150))
    before = load_tree(path).snapshot_seq
    spoil(path)

    assert before > 0
    assert asyncio.run(add(1)) == 151
