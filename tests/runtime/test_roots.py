"""Root actors listed, stopped and deleted."""

import asyncio
from collections.abc import Callable

import pytest

from antiphon import OtherHistory, UnknownRoot, create_machine, from_task
from antiphon.runtime.errors import Quarantined, StoreError, StoreStopped
from antiphon.runtime.store import Store
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from tests.fixtures.faulty_store import FaultyStore
from tests.fixtures.runtime import runtime, simulate

cancelled: list[str] = []


async def work():
    try:
        await asyncio.get_running_loop().create_future()
    except asyncio.CancelledError:
        cancelled.append("work")
        raise


lamp = create_machine(
    {
        "id": "lamp",
        "initial": "off",
        "states": {
            "off": {"on": {"GO": "on"}},
            "on": {"invoke": {"src": "work"}, "after": {5000: "off"}, "on": {"GO": "off"}},
        },
    },
    actors={"work": from_task(work)},
)


@pytest.fixture(autouse=True)
def no_cancelled_work() -> None:
    cancelled.clear()


async def entries_of(host, root, after: int | str = 0):
    return [entry.event["type"] async for entry in host.feed(root, after)]


def test_roots_are_listed_a_page_at_a_time():
    async def main():
        async with runtime(MemoryStore(), lamp) as host:
            for name in ("c", "a", "b"):
                await host.create("lamp", root=name)
            return await host.roots(limit=2), await host.roots("b")

    first, rest = simulate(main)
    assert [(tree.root, tree.machine, tree.status) for tree in first] == [
        ("a", "lamp", "active"),
        ("b", "lamp", "active"),
    ]
    assert [tree.root for tree in rest] == ["c"]


def test_a_stopped_root_has_no_task_and_no_timer_and_takes_nothing():
    async def main():
        store = MemoryStore()
        async with runtime(store, lamp) as host:
            await host.create("lamp", root="a")
            await host.send("a", {"type": "GO"})
            await asyncio.sleep(1)
            stopped = await host.stop_root("a")
            await asyncio.sleep(1)

            assert (stopped.status, cancelled) == ("accepted", ["work"])
            assert (await store.due_times(), await store.running_tasks()) == ([], [])
            assert (await host.send("a", {"type": "GO"})).status == "rejected"
            assert (await host.stop_root("a")).status == "rejected"
            assert await entries_of(host, "a") == ["xstate.init", "GO", "xstate.stop"]
            assert await host.snapshot("a", 3) == await host.snapshot("a")
        async with runtime(store, lamp) as again:
            assert (await again.snapshot("a"))["status"] == "stopped"

    simulate(main)


def test_a_deleted_root_is_gone_for_every_call_and_its_tasks_are_cancelled():
    async def main():
        async with runtime(MemoryStore(), lamp) as host:
            await host.create("lamp", root="a")
            await host.send("a", {"type": "GO"})
            await asyncio.sleep(1)
            await host.delete("a")
            calls = (
                host.send("a", {"type": "GO"}),
                host.post("a", {"type": "GO"}),
                host.snapshot("a"),
                host.cursor("a"),
                host.outcome("a", "letter"),
                host.stop_root("a"),
                host.delete("a"),
                entries_of(host, "a"),
            )
            errors = await asyncio.gather(*calls, return_exceptions=True)
            await asyncio.sleep(60)  # the timer is gone too

            assert [type(error) for error in errors] == [UnknownRoot] * len(calls)
            assert (cancelled, await host.roots()) == (["work"], [])

    simulate(main)


def test_everything_that_waits_for_a_root_learns_that_it_was_deleted():
    async def main():
        async with runtime(MemoryStore(), lamp) as host:
            await host.create("lamp", root="a")
            calls = (entries_of(host, "a"), host.output("a"), host.wait_until("a", lambda state: False))
            waiting = asyncio.gather(*calls, return_exceptions=True)
            await asyncio.sleep(1)
            await host.delete("a")
            return await waiting

    errors = simulate(main)
    assert [type(error) for error in errors] == [UnknownRoot] * 3


def test_a_feed_does_not_continue_with_another_root_of_the_same_id():
    async def main():
        async with runtime(MemoryStore(), lamp) as host:
            await host.create("lamp", root="a")
            reading = asyncio.ensure_future(entries_of(host, "a"))
            await asyncio.sleep(1)
            await host.delete("a")
            await host.create("lamp", root="a")
            await host.send("a", {"type": "GO"})
            with pytest.raises(UnknownRoot, match="'a' was deleted after step 1"):
                await reading

    simulate(main)


def test_a_letter_that_is_sent_while_its_root_is_deleted_is_refused():
    class SlowStore(MemoryStore):
        async def delete(self, root, tenure=0):
            await asyncio.sleep(1)
            await super().delete(root, tenure)
            await asyncio.sleep(1)

    async def main():
        async with runtime(SlowStore(), lamp) as host:
            await host.create("lamp", root="a")
            deleting = asyncio.ensure_future(host.delete("a"))
            await asyncio.sleep(0.5)
            early = asyncio.ensure_future(host.send("a", {"type": "GO"}))
            await asyncio.sleep(1)
            late = asyncio.ensure_future(host.send("a", {"type": "GO"}))
            await deleting
            errors = await asyncio.gather(early, late, return_exceptions=True)
            assert [type(error) for error in errors] == [UnknownRoot, UnknownRoot]

    simulate(main)


def test_a_letter_to_a_deleted_root_does_not_reach_another_one_of_its_id():
    class SlowStore(MemoryStore):
        async def delete(self, root, tenure=0):
            await asyncio.sleep(1)
            await super().delete(root, tenure)

    async def main():
        async with runtime(SlowStore(), lamp) as host:
            await host.create("lamp", root="a")
            deleting = asyncio.ensure_future(host.delete("a"))
            await asyncio.sleep(0.5)
            letter = asyncio.ensure_future(host.send("a", {"type": "GO"}))
            creating = asyncio.ensure_future(host.create("lamp", root="a"))
            await asyncio.gather(deleting, creating, return_exceptions=True)
            with pytest.raises(UnknownRoot):
                await letter
            await asyncio.sleep(5)
            assert (await host.snapshot("a"))["value"] == "off"

    simulate(main)


def test_a_root_is_created_again_with_another_history():
    async def main():
        async with runtime(MemoryStore(), lamp) as host:
            await host.create("lamp", root="a")
            cursor = (await host.send("a", {"type": "GO"}, id="once")).cursor
            await host.delete("a")
            await host.create("lamp", root="a")

            assert (await host.send("a", {"type": "GO"}, id="once")).status == "accepted"
            with pytest.raises(OtherHistory):
                await entries_of(host, "a", cursor)

    simulate(main)


def test_a_root_that_is_being_created_is_deleted_whole():
    class SlowStore(MemoryStore):
        commits_inline = False

        async def commit(self, commits, written=None):
            await super().commit(commits, written)
            await asyncio.sleep(1)

    async def main():
        store = SlowStore()
        async with runtime(store, lamp) as host:
            creating = asyncio.ensure_future(host.create("lamp", root="a"))
            await asyncio.sleep(0.5)  # it is stored, and nobody knows
            await host.delete("a")
            await creating

            assert (store.trees, host.trees.get("a")) == ({}, None)
            with pytest.raises(UnknownRoot):
                await host.send("a", {"type": "GO"})

    simulate(main)


@pytest.mark.parametrize("is_made", [True, False])
def test_a_deletion_whose_answer_is_lost_is_looked_up(is_made: bool):
    async def main():
        inner = MemoryStore()
        store = FaultyStore(inner, lambda number: False)
        async with runtime(store, lamp) as host:
            await host.create("lamp", root="a")
            number = len(store.calls) + 1
            fault = "_loses_answer" if is_made else "_fails"
            setattr(store, fault, lambda call: call == number)
            if is_made:
                await host.delete("a")
            else:
                with pytest.raises(StoreError):
                    await host.delete("a")
                assert (await host.send("a", {"type": "GO"})).status == "accepted"
            assert list(inner.trees) == ([] if is_made else ["a"])

    simulate(main)


def test_a_deletion_whose_outcome_is_unknown_is_not_said_to_be_made():
    class StoppedStore(MemoryStore):
        async def delete(self, root, tenure=0):
            await super().delete(root, tenure)
            raise StoreStopped("the flush has failed")

    async def main():
        async with runtime(StoppedStore(), lamp) as host:
            await host.create("lamp", root="a")
            with pytest.raises(StoreStopped):
                await host.delete("a")

    simulate(main)


def test_a_quarantined_root_can_be_deleted():
    async def main():
        store = MemoryStore()
        async with runtime(store, lamp) as host:
            await host.create("lamp", root="a")
            async with host.trees.unloaded("a"):
                await host.trees.quarantine.quarantine("a", "why")
            with pytest.raises(Quarantined):
                await host.stop_root("a")
            await host.delete("a")
            assert store.trees == {}

    simulate(main)


@pytest.mark.parametrize("make", [MemoryStore, lambda: None])
def test_the_watch_of_trees_names_a_deleted_one(make: Callable[[], Store | None], tmp_path):
    async def main():
        store = make() or SqliteStore(tmp_path / "store.db")
        async with runtime(store, lamp) as host:
            await host.create("lamp", root="a")
            changes = host.watch()
            await anext(changes)
            await host.delete("a")
            assert (await anext(changes)).roots == {"a": "changed"}
            await changes.aclose()

    if make is MemoryStore:
        simulate(main)
    else:
        asyncio.run(main())


def test_a_reader_beside_the_owner_sees_no_other_tree_under_a_number_that_was_given_twice(tmp_path):
    async def main():
        store = SqliteStore(tmp_path / "store.db")
        reader = SqliteStore(tmp_path / "store.db", read_only=True)
        async with runtime(store, lamp) as host:
            await host.create("lamp", root="a")
            await reader.open()
            assert len(await reader.entries("a")) == 1
            await host.delete("a")
            await host.create("lamp", root="b")
            with pytest.raises(UnknownRoot):
                await reader.entries("a")
            await reader.close()

    asyncio.run(main())
