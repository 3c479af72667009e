"""A projection is applied to the steps of trees, and what it returns is stored in their commits."""

import asyncio

import pytest

from antiphon import assign, create_machine, from_task
from antiphon.runtime.errors import StoreError
from antiphon.runtime.index.rebuild import IndexRebuild
from antiphon.runtime.index.rows import IndexChange, IndexRow, IndexText, RowFilter
from antiphon.stores.memory import MemoryStore
from antiphon.testing.contracts.store_facts import read_index
from tests.fixtures.faulty_store import FaultyStore
from tests.fixtures.runtime import runtime, simulate

ALL = RowFilter()


class Counting:
    """Projection of counters: their number is their status, and each is a text."""

    machines = ("counter",)

    def __init__(self, version=1):
        self.version = version
        self.asked = []

    def project(self, before, after, entry):
        self.asked.append(entry.seq)
        n = after["context"]["n"]
        if before is not None and before["context"]["n"] == n:
            return None
        text = IndexText(str(entry.seq), entry.at, f"number {n}")
        return IndexChange(
            entry.at, IndexRow("counter", str(n), facts={"children": sorted(after["children"])}), (text,)
        )

    def project_journal(self, root, input, entries, error):
        return IndexChange(entries[-1].at, IndexRow("counter", type(error).__name__, facts={}))


async def forever():
    await asyncio.get_running_loop().create_future()


inner = create_machine(
    {
        "id": "inner",
        "context": {"n": 0},
        "invoke": {"id": "deep", "src": "deep"},
        "on": {"DEEPER": {"actions": lambda: None}},
    },
    actors={
        "deep": create_machine(
            {"id": "deep", "context": {"n": 0}, "on": {"ADD": {"actions": "add"}}},
            actions={"add": assign({"n": lambda context, event: context["n"] + 1})},
        )
    },
)


def counter(version=1, by=1, migrate=None):
    return create_machine(
        {
            "id": "counter",
            "version": version,
            "context": {"n": 0},
            "invoke": {"id": "inner", "src": "inner"},
            "on": {"ADD": {"actions": "add"}},
        },
        actors={"inner": inner},
        actions={"add": assign({"n": lambda context, event: context["n"] + by})},
        migrate=migrate,
    )


def run(work, store=None, **options):
    async def main():
        used = store if store is not None else MemoryStore()
        async with runtime(used, counter(), **{"projection": Counting(), **options}) as host:
            return await work(host, used)

    return simulate(main)


async def statuses(store):
    return {tree.root: tree.row.status for tree in await store.index.page(ALL, None, 20)}


def test_a_row_and_a_text_are_stored_with_the_step():
    async def work(host, store):
        await host.create("counter", root="a")
        receipt = await host.send("a", {"type": "ADD"})
        (match,) = await store.index.search("number 1", None, 20)
        return receipt.seq, await statuses(store), match.root, await store.index.find_outdated(1)

    assert run(work) == (2, {"a": "1"}, "a", [])


def test_a_step_of_an_actor_further_down_is_not_projected():
    projection = Counting()

    async def work(host, store):
        await host.create("counter", root="a")
        await host.send("a", {"type": "ADD"}, to="inner/deep")
        await host.send("a", {"type": "DEEPER"}, to="inner")
        await host.send("a", {"type": "ADD"})

    run(work, projection=projection)
    assert projection.asked == [1, 4]


def test_steps_of_one_turn_are_one_change():
    async def work(host, store):
        await host.create("counter", root="a")
        await asyncio.gather(*(host.send("a", {"type": "ADD"}) for _ in range(5)))
        return await statuses(store), len(store.trees["a"].indexed.texts)

    assert run(work) == ({"a": "5"}, 6)


def test_a_step_that_is_not_stored_changes_nothing_in_the_index():
    store = MemoryStore()

    async def work(host, faulty):
        await host.create("counter", root="a")
        before = await read_index(store, "number")
        faulty._fails = lambda number: faulty.calls[-1] == "commit"
        with pytest.raises(StoreError):
            await host.send("a", {"type": "ADD"})
        faulty.cure()
        return before, await read_index(store, "number")

    before, after = run(work, FaultyStore(store, lambda number: False))
    assert before == after


def test_a_fork_has_the_row_of_its_state_and_its_texts_are_its_own():
    async def work(host, store):
        await host.create("counter", root="a")
        for _ in range(3):
            await host.send("a", {"type": "ADD"})
        await host.fork("a", 3, new="b")
        return await statuses(store), await store.index.find_outdated(1)

    assert run(work) == ({"b": "2", "a": "3"}, [])


def test_trees_without_a_projection_are_indexed_at_the_next_start_with_one():
    store = MemoryStore()

    async def work(host, store):
        await host.create("counter", root="a")
        await host.send("a", {"type": "ADD"})
        return await statuses(store)

    async def look(host, store):
        return await read_index(store, "number"), await statuses(store)

    assert run(work, store, projection=None) == {}
    index, rows = run(look, store)
    assert rows == {"a": "1"}
    assert [match.place for match in index[2][0]] != []


def test_trees_are_indexed_again_for_another_version_of_the_projection():
    store = MemoryStore()

    async def work(host, store):
        await host.create("counter", root="a")

    async def look(host, store):
        return await store.index.find_outdated(2)

    run(work, store)
    projection = Counting(version=2)
    assert run(look, store, projection=projection) == []
    assert projection.asked == [1]


def test_a_migration_is_projected():
    store = MemoryStore()

    def migrate(snapshot, version):
        return {**snapshot, "context": {"n": snapshot["context"]["n"] + 100}}

    async def main():
        async with runtime(store, counter(), projection=Counting()) as host:
            await host.create("counter", root="a")
            await host.send("a", {"type": "ADD"})
        async with runtime(store, counter(), counter(2, migrate=migrate), projection=Counting()) as host:
            await host.state("a")
            return await statuses(store), await store.index.find_outdated(1)

    assert simulate(main) == ({"a": "101"}, [])


def test_the_index_of_a_migrated_tree_is_rebuilt_from_its_migration_on():
    store = MemoryStore()

    async def main():
        async with runtime(store, counter(), projection=Counting()) as host:
            await host.create("counter", root="a")
        versions = (counter(), counter(2, migrate=lambda snapshot, version: snapshot))
        async with runtime(store, *versions, projection=Counting()) as host:
            await host.send("a", {"type": "ADD"})
            before = await statuses(store)
            await host.index.run(everything=True)
            return before, await statuses(store)

    assert simulate(main) == ({"a": "1"}, {"a": "1"})


def test_a_tree_that_no_machine_here_can_run_is_indexed_by_its_journal_and_tried_again():
    store = MemoryStore()
    other = create_machine({"id": "other"})

    async def main():
        async with runtime(store, counter()) as host:
            await host.create("counter", root="a")
        async with runtime(store, other, projection=Counting()):
            rows = await statuses(store), await store.index.find_outdated(1), await store.index.find_outdated(1, -1)
        async with runtime(store, counter(), projection=Counting()):
            return rows, await statuses(store)

    assert simulate(main) == (({"a": "UnknownMachine"}, ["a"], []), {"a": "0"})


def test_a_tree_that_continues_with_other_steps_is_indexed_by_them():
    store = MemoryStore()

    async def main():
        async with runtime(store, counter(), projection=Counting()) as host:
            await host.create("counter", root="a")
            await host.send("a", {"type": "ADD"})
        async with runtime(store, counter(by=5), projection=Counting()) as host:
            with pytest.raises(Exception, match="quarantined"):
                await host.state("a")
            await host.release("a", accept=True)
            return await statuses(store), await store.index.find_outdated(1)

    assert simulate(main) == ({"a": "5"}, [])


def test_trees_of_other_machines_have_no_rows_and_are_not_outdated():
    store = MemoryStore()

    async def main():
        async with runtime(store, create_machine({"id": "other"}), projection=Counting()) as host:
            await host.create("other", root="a")
            return await statuses(store), await store.index.find_outdated(1)

    assert simulate(main) == ({}, [])


def test_progress_is_reported_by_trees():
    reports = []

    async def work(host, store):
        for root in "abc":
            await host.create("counter", root=root)
        index: IndexRebuild = host.index
        return await index.run(lambda done, total: reports.append((done, total)), everything=True)

    assert run(work) == 3
    assert reports == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_from_task_children_are_not_part_of_the_state():
    machine = create_machine(
        {"id": "counter", "context": {"n": 0}, "invoke": {"id": "work", "src": "work"}},
        actors={"work": from_task(forever)},
    )
    store = MemoryStore()

    async def main():
        async with runtime(store, machine, projection=Counting()) as host:
            await host.create("counter", root="a")
            (tree,) = await store.index.page(ALL, None, 20)
            return tree.row.facts

    assert simulate(main) == {"children": []}
