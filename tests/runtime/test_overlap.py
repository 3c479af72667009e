"""Computing while the disk works: what may happen before a commit is durable, and what may not."""

import asyncio
from typing import Any

import pytest

from antiphon import assign, create_machine
from antiphon.runtime.errors import StoreError
from antiphon.runtime.pace import Pace
from antiphon.stores.memory import MemoryStore
from tests.runtime.world import runtime, simulate


class SlowDisk(MemoryStore):
    """Writes at once, and is durable when told so."""

    def __init__(self) -> None:
        super().__init__()
        self.is_slow, self.fails = False, False
        self.durable = asyncio.Event()

    async def commit(self, commits: Any, written: Any = None) -> None:
        """Make all commits, and let whoever waits for them wait for the disk."""
        if written is not None:
            written()
        if self.is_slow:
            await self.durable.wait()
        if self.fails:
            raise StoreError("the disk is gone")
        await super().commit(commits)


def counter(taken: list[str]) -> Any:
    """A machine that counts, and tells the test when it computes."""

    def count(context: Any, event: Any) -> int:
        taken.append(event["of"])
        return int(context["n"]) + 1

    return create_machine(
        {"id": "counter", "context": {"n": 0}, "on": {"ADD": {"actions": "count"}}},
        actions={"count": assign({"n": count})},
    )


async def turn_of_the_loop() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_another_tree_computes_while_a_commit_reaches_the_disk() -> None:
    async def main() -> None:
        store, taken = SlowDisk(), []
        async with runtime(store, counter(taken)) as host:
            a, b = await host.create("counter"), await host.create("counter")
            store.is_slow = True
            first = asyncio.create_task(host.send(a, {"type": "ADD", "of": "a"}))
            await turn_of_the_loop()
            second = asyncio.create_task(host.send(b, {"type": "ADD", "of": "b"}))
            await turn_of_the_loop()

            assert taken == ["a", "b"]
            assert not first.done()
            assert not second.done()
            store.durable.set()
            assert (await first).status == (await second).status == "accepted"

    simulate(main)


def test_a_tree_takes_no_letter_before_its_last_step_is_durable() -> None:
    async def main() -> None:
        store, taken = SlowDisk(), []
        async with runtime(store, counter(taken)) as host:
            a = await host.create("counter")
            store.is_slow = True
            sent = [asyncio.create_task(host.send(a, {"type": "ADD", "of": "first"}))]
            await turn_of_the_loop()
            sent.append(asyncio.create_task(host.send(a, {"type": "ADD", "of": "second"})))
            await turn_of_the_loop()

            assert taken == ["first"]
            store.durable.set()
            assert [receipt.seq for receipt in await asyncio.gather(*sent)] == [2, 3]

    simulate(main)


def test_a_snapshot_shows_only_what_is_durable() -> None:
    async def main() -> None:
        store = SlowDisk()
        async with runtime(store, counter([])) as host:
            a = await host.create("counter")
            store.is_slow = True
            sent = asyncio.create_task(host.send(a, {"type": "ADD", "of": "a"}))
            await turn_of_the_loop()
            shown = asyncio.create_task(host.snapshot(a))
            await turn_of_the_loop()

            assert not shown.done()
            store.fails = True
            store.durable.set()
            with pytest.raises(StoreError):
                await sent
            assert (await shown)["context"] == {"n": 0}
            store.fails = False

    simulate(main)


def test_a_runtime_that_stops_waits_for_the_commit_on_its_way() -> None:
    async def main() -> None:
        store = SlowDisk()
        host = await runtime(store, counter([])).start()
        a = await host.create("counter")
        store.is_slow = True
        sent = asyncio.create_task(host.send(a, {"type": "ADD", "of": "a"}))
        await turn_of_the_loop()
        stopped = asyncio.create_task(host.stop())
        await turn_of_the_loop()

        assert not stopped.done()
        store.durable.set()
        await stopped
        assert (await sent).status == "accepted"

    simulate(main)


def test_what_is_ready_is_split_when_computing_takes_longer_than_the_disk() -> None:
    pace = Pace()
    for _ in range(50):
        pace.computed(10, 0.010)
        pace.flushed(0.005)

    assert pace.share(100) == 50
    assert pace.share(101) == 51
    assert pace.share(4) == 4
    assert pace.share(1) == 1
