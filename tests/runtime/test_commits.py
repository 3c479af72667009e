"""A commit whose answer is lost is found out by its mark, and its effects are performed once."""

import asyncio

import pytest

from antiphon import assign, create_machine, from_task
from antiphon.runtime.errors import StoreError
from antiphon.stores.memory import MemoryStore
from tests.fixtures.faulty_store import FaultyStore
from tests.fixtures.runtime import START, runtime, simulate

machine = create_machine(
    {
        "id": "m",
        "initial": "idle",
        "context": {"n": 0, "answer": None},
        "on": {"ADD": {"actions": "add"}},
        "states": {
            "idle": {"on": {"ASK": "asking"}},
            "asking": {"invoke": {"src": "answer", "onDone": {"target": "idle", "actions": "keep"}}},
        },
    },
    actions={
        "add": assign({"n": lambda context: context["n"] + 1}),
        "keep": assign({"answer": lambda context, event: event["output"]}),
    },
    actors={"answer": from_task(lambda: "yes")},
)


def lose_every_answer(number):
    return True


def never(number):
    return False


def test_a_step_whose_answer_is_lost_is_acknowledged_and_its_task_is_run():
    async def main():
        store = FaultyStore(MemoryStore(), never, lose_every_answer)
        async with runtime(store, machine) as host:
            root = await host.create("m")
            assert (await host.send(root, {"type": "ADD"}, id="a"))[:3] == ("accepted", "a", 2)
            assert (await host.send(root, {"type": "ASK"})).status == "accepted"
            await asyncio.sleep(1)

            snapshot = await host.snapshot(root)
            assert (snapshot["value"], snapshot["context"]) == ("idle", {"n": 1, "answer": "yes"})
            assert len(await host.store.entries(root)) == 4

    simulate(main)


def test_a_post_whose_answer_is_lost_is_taken():
    async def main():
        store = FaultyStore(MemoryStore(), never, lose_every_answer)
        async with runtime(store, machine) as host:
            root = await host.create("m")
            assert (await host.post(root, {"type": "ADD"}, id="p", delay_ms=100)).status == "accepted"
            await asyncio.sleep(1)
            assert (await host.outcome(root, "p"))[:3] == ("accepted", "p", 2)

    simulate(main)


def test_a_commit_that_was_not_made_is_refused_and_changes_nothing():
    async def main():
        store = FaultyStore(MemoryStore(), never)
        async with runtime(store, machine) as host:
            root = await host.create("m")
            store._fails = lambda number: store.calls[-1] == "commit"
            with pytest.raises(StoreError, match="fails as the test requires"):
                await host.send(root, {"type": "ADD"})
            store.cure()
            assert (await host.send(root, {"type": "ADD"})).seq == 2

    simulate(main)


def test_the_outcome_of_a_commit_is_asked_for_until_the_store_answers():
    async def main():
        failures = iter([False, True, True, True, False])
        store = FaultyStore(MemoryStore(), never)
        async with runtime(store, machine) as host:
            root = await host.create("m")
            store._fails = lambda number: store.calls[-1] == "mark" and next(failures)
            store._loses_answer = lambda number: store.calls[-1] == "commit"
            next(failures)
            assert (await host.send(root, {"type": "ADD"})).status == "accepted"
            assert store.calls.count("mark") == 4
            assert host.now() == START + 1500
            store.cure()

    simulate(main)


def test_many_trees_created_at_once_are_stored_in_few_transactions():
    class CountingStore(MemoryStore):
        transactions = 0

        async def commit(self, commits, written=None):
            self.transactions += 1
            await super().commit(commits, written)

    async def main():
        store = CountingStore()
        async with runtime(store, machine) as host:
            roots = await asyncio.gather(*(host.create("m") for _ in range(64)))
            assert len(set(roots)) == len(store.trees) == 64
            return store.transactions

    assert simulate(main) <= 8
