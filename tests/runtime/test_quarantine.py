"""Quarantined trees, and failures of code and store that come together."""

import asyncio

import pytest

from antiphon import assign, create_machine, from_stream
from antiphon.runtime.errors import NotRunning, Quarantined, RootExists, StoreError
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import runtime, simulate

NOTE = {"type": "NOTE"}


class SlowStore(MemoryStore):
    """Store whose commits wait while it is closed, and whose loads fail a number of times."""

    def __init__(self):
        super().__init__()
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.failing_loads = 0

    async def commit(self, commits, written=None):
        await self.is_open.wait()
        await super().commit(commits, written)

    async def load(self, root, seq=None):
        if self.failing_loads:
            self.failing_loads -= 1
            raise StoreError("the disk does not answer")
        return await super().load(root, seq)


def counting(ring=lambda context: context["n"], version=1, **options):
    """Return a machine that counts notes, and calls a function when its timer fires."""
    config = {
        "id": "counting",
        "version": version,
        "context": {"n": 0},
        "initial": "on",
        "on": {"NOTE": {"actions": assign({"n": lambda context: context["n"] + 1})}},
        "states": {"on": {"after": {100: {"actions": assign({"n": ring})}}}},
    }
    return create_machine(config, **options)


def talking(says, ring):
    """Return a machine whose task talks until its timer fires, which calls a function."""

    async def talk():
        for word in ("a", "b", "c", "d"):
            says.append(word)
            yield word
            await asyncio.sleep(1)

    add = assign({"text": lambda context, event: context["text"] + (event["snapshot"].context or "")})
    invoke = {"src": "talk", "onSnapshot": {"actions": add}, "onDone": "done", "onError": "failed"}
    config = {
        "id": "talking",
        "context": {"text": ""},
        "initial": "on",
        "states": {
            "on": {"invoke": invoke, "after": {1500: {"actions": assign({"n": ring})}}},
            "done": {},
            "failed": {},
        },
    }
    return create_machine(config, actors={"talk": from_stream(talk)})


def fail(*arguments):
    raise ValueError("boom")


def test_the_tasks_of_a_quarantined_tree_are_cancelled_and_its_release_reports_them():
    async def main():
        says = []
        problems = ["boom"]
        async with runtime(MemoryStore(), talking(says, lambda context: fail() if problems else 1)) as host:
            root = await host.create("talking")
            await asyncio.sleep(10)
            assert says == ["a", "b"]

            problems.clear()
            await host.release(root)
            await asyncio.sleep(10)
            snapshot = await host.snapshot(root)
            assert (snapshot["value"], snapshot["context"]["text"]) == ("failed", "ab")
            assert says == ["a", "b"]

    simulate(main)


def test_a_tree_is_not_loaded_while_its_quarantine_is_being_stored():
    async def main():
        store = SlowStore()
        async with runtime(store, counting(fail)) as host:
            root = await host.create("counting")
            store.is_open.clear()
            await asyncio.sleep(1)
            sending = asyncio.create_task(host.send(root, NOTE, id="note"))
            await asyncio.sleep(1)
            store.is_open.set()

            with pytest.raises(Quarantined):
                await sending
            with pytest.raises(Quarantined):
                await host.send(root, NOTE, id="note")
            assert store.trees[root].status == "quarantined"
            assert len(await store.entries(root)) == 1

    simulate(main)


def test_a_replay_that_returns_what_cannot_be_stored_quarantines_its_tree():
    async def main():
        store = MemoryStore()
        async with runtime(store, counting()) as host:
            root = await host.create("counting")
            await asyncio.sleep(1)
        async with runtime(store, counting(lambda context: float("nan"))) as host:
            with pytest.raises(Quarantined, match="nan cannot be stored"):
                await host.send(root, NOTE)
            assert store.trees[root].status == "quarantined"

    simulate(main)


def test_a_release_recovers_the_tasks_although_the_store_fails_meanwhile():
    async def main():
        store = SlowStore()
        problems = ["boom"]
        async with runtime(store, talking([], lambda context: fail() if problems else 1)) as host:
            root = await host.create("talking")
            await asyncio.sleep(2)
            problems.clear()
            store.is_open.clear()
            releasing = asyncio.create_task(host.release(root))
            await asyncio.sleep(0.1)
            store.failing_loads = 3
            store.is_open.set()

            assert await releasing
            await asyncio.sleep(10)
            assert (await host.snapshot(root))["value"] == "failed"

    simulate(main)


def test_creating_a_tree_that_exists_is_refused_while_its_letters_are_due():
    async def main():
        store = SlowStore()
        async with runtime(store, counting()) as host:
            root = await host.create("counting", root="a")
            other = await host.create("counting")
            host.trees.discard(root)
            store.is_open.clear()
            sending = asyncio.create_task(host.send(other, NOTE))
            await asyncio.sleep(0.01)
            creating = asyncio.create_task(host.create("counting", root=root))
            await asyncio.sleep(1)  # the timer of the tree that exists is due
            store.is_open.set()

            with pytest.raises(RootExists):
                await asyncio.wait_for(creating, 10)
            await sending
            assert (await host.send(root, NOTE)).status == "accepted"

    simulate(main)


def test_creating_is_refused_if_the_runtime_is_stopped_meanwhile():
    async def main():
        store = MemoryStore()
        free = asyncio.Event()

        async def mark(root):
            await free.wait()

        host = await runtime(store, counting()).start()
        store.mark = mark
        creating = asyncio.create_task(host.create("counting", root="a"))
        await asyncio.sleep(0.1)
        stopping = asyncio.create_task(host.stop())
        await asyncio.sleep(0.1)
        free.set()

        with pytest.raises(NotRunning):
            await creating
        await stopping
        assert not store.trees

    simulate(main)


def test_readers_of_a_feed_learn_of_a_migration():
    async def main():
        store = MemoryStore()
        async with runtime(store, counting()) as host:
            root = await host.create("counting")
        new = counting(version=2, migrate=lambda snapshot, version: snapshot)
        async with runtime(store, counting(), new) as host:
            types = []

            async def read():
                types.extend([entry.event["type"] async for entry in host.feed(root)])

            reading = asyncio.create_task(read())
            await asyncio.sleep(0.01)
            await host.snapshot(root)
            await asyncio.sleep(0.01)
        await reading
        assert types == ["xstate.init", "antiphon.migrated"]

    simulate(main)


def test_no_send_overtakes_a_post_that_the_store_could_not_read():
    async def main():
        store = SlowStore()
        machine = create_machine({"id": "m", "context": {"ids": []}, "on": {"NOTE": {"actions": "note"}}}, actions=KEEP)
        async with runtime(store, machine) as host:
            root = await host.create("m")
            host.trees.discard(root)
            store.failing_loads = 1
            await host.post(root, {"type": "NOTE", "id": 1})
            await asyncio.sleep(0.01)
            await host.send(root, {"type": "NOTE", "id": 2})

            assert (await host.snapshot(root))["context"] == {"ids": [1, 2]}

    simulate(main)


def test_no_send_overtakes_a_post_while_the_runtime_stops():
    async def main():
        store = SlowStore()
        machine = create_machine({"id": "m", "context": {"ids": []}, "on": {"NOTE": {"actions": "note"}}}, actions=KEEP)
        host = await runtime(store, machine).start()
        root = await host.create("m")
        store.is_open.clear()
        first = asyncio.create_task(host.send(root, {"type": "NOTE", "id": 1}))
        await asyncio.sleep(0.1)
        await host.post(root, {"type": "NOTE", "id": 2})
        second = asyncio.create_task(host.send(root, {"type": "NOTE", "id": 3}))
        await asyncio.sleep(0.1)
        stopping = asyncio.create_task(host.stop())
        await asyncio.sleep(0.1)
        store.is_open.set()

        await first
        with pytest.raises(NotRunning):
            await second
        await stopping
        assert [entry.event.get("id") for entry in await store.entries(root)] == [None, 1]

    simulate(main)


KEEP = {"note": assign({"ids": lambda context, event: [*context["ids"], event["id"]]})}
