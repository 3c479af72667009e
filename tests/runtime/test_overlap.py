"""Computing while the disk flushes: what may happen before a commit is durable, and what may not."""

import asyncio
from typing import Any

import pytest

from antiphon import assign, create_machine
from antiphon.runtime.errors import StoreError
from antiphon.runtime.pipeline import Pipeline
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import runtime, simulate


class SlowDisk(MemoryStore):
    """Store that writes at once, and is durable when `durable` is set."""

    commits_inline = False

    def __init__(self) -> None:
        super().__init__()
        self.is_slow = False
        self.fails = False
        self.durable = asyncio.Event()

    async def commit(self, commits: Any, written: Any = None) -> None:
        """Make all commits, and wait for the disk."""
        if written is not None:
            written()
        if self.is_slow:
            await self.durable.wait()
        if self.fails:
            raise StoreError("the disk failed")
        await super().commit(commits)


def counter(computed: list[str]) -> Any:
    """Return a machine that counts, and records when it computes."""

    def count(context: Any, event: Any) -> int:
        computed.append(event["of"])
        return int(context["n"]) + 1

    return create_machine(
        {"id": "counter", "context": {"n": 0}, "on": {"ADD": {"actions": "count"}}},
        actions={"count": assign({"n": count})},
    )


async def run_loop_a_while() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_another_tree_computes_while_a_commit_reaches_the_disk() -> None:
    async def main() -> None:
        store = SlowDisk()
        computed = []
        async with runtime(store, counter(computed)) as host:
            a = await host.create("counter")
            b = await host.create("counter")
            store.is_slow = True
            first = asyncio.create_task(host.send(a, {"type": "ADD", "of": "a"}))
            await run_loop_a_while()
            second = asyncio.create_task(host.send(b, {"type": "ADD", "of": "b"}))
            await run_loop_a_while()

            assert computed == ["a", "b"]
            assert not first.done()
            assert not second.done()
            store.durable.set()
            assert (await first).status == (await second).status == "accepted"

    simulate(main)


def test_a_tree_takes_no_letter_before_its_last_step_is_durable() -> None:
    async def main() -> None:
        store = SlowDisk()
        computed = []
        async with runtime(store, counter(computed)) as host:
            a = await host.create("counter")
            store.is_slow = True
            sent = [asyncio.create_task(host.send(a, {"type": "ADD", "of": "first"}))]
            await run_loop_a_while()
            sent.append(asyncio.create_task(host.send(a, {"type": "ADD", "of": "second"})))
            await run_loop_a_while()

            assert computed == ["first"]
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
            await run_loop_a_while()
            reading = asyncio.create_task(host.snapshot(a))
            await run_loop_a_while()

            assert not reading.done()
            store.fails = True
            store.durable.set()
            with pytest.raises(StoreError):
                await sent
            assert (await reading)["context"] == {"n": 0}
            store.fails = False

    simulate(main)


def test_a_runtime_that_stops_waits_for_the_commit_on_its_way() -> None:
    async def main() -> None:
        store = SlowDisk()
        host = await runtime(store, counter([])).start()
        a = await host.create("counter")
        store.is_slow = True
        sent = asyncio.create_task(host.send(a, {"type": "ADD", "of": "a"}))
        await run_loop_a_while()
        stopped = asyncio.create_task(host.stop())
        await run_loop_a_while()

        assert not stopped.done()
        store.durable.set()
        await stopped
        assert (await sent).status == "accepted"

    simulate(main)


def new_pipeline(turn_s: float, flush_s: float) -> Pipeline:
    """A pipeline that has counts many turns and commits of that length."""
    pipeline = Pipeline(MemoryStore(), lambda: None)
    for _ in range(50):
        pipeline.measure_turns(10, 10 * turn_s)
    pipeline._flush_s = flush_s
    return pipeline


def test_what_is_ready_is_split_when_computing_hides_the_disk() -> None:
    fast_disk = new_pipeline(0.001, 0.005)
    slow_disk = new_pipeline(0.001, 1.0)

    assert [fast_disk.share(ready) for ready in (100, 101, 2, 1)] == [50, 51, 2, 1]
    assert slow_disk.share(100) == 100


def test_behind_a_commit_goes_only_one_of_about_its_size() -> None:
    """A smaller one waits and grows: there are fewer commits, and each holds more."""
    pipeline = new_pipeline(0.001, 0.005)
    pipeline.enter(50)

    assert pipeline.accepts(25, ready=0)
    assert not pipeline.accepts(24, ready=0)
    assert not pipeline.accepts(25, ready=1)
    pipeline.enter(25)
    assert not pipeline.accepts(50, ready=0)


def test_while_a_commit_is_written_nothing_is_computed() -> None:
    async def main() -> None:
        pipeline = Pipeline(MemoryStore(), lambda: None)
        pipeline.enter(1)
        assert pipeline.is_writing
        pipeline._on_written()
        pipeline.enter(1)
        assert not pipeline.is_writing
        pipeline.leave()
        assert pipeline.is_writing
        pipeline.leave()
        assert not pipeline.is_writing

    simulate(main)


def test_a_machine_whose_timers_are_always_due_lets_others_have_their_turns() -> None:
    async def main() -> None:
        machine = create_machine(
            {
                "id": "busy",
                "context": {"n": 0},
                "initial": "on",
                "states": {
                    "on": {
                        "after": {
                            0: [
                                {"guard": "isTired", "target": "off"},
                                {"target": "on", "reenter": True, "actions": "count"},
                            ]
                        }
                    },
                    "off": {},
                },
            },
            actions={"count": assign({"n": lambda context: context["n"] + 1})},
            guards={"isTired": lambda context: context["n"] >= 1000},
        )
        async with runtime(MemoryStore(), machine) as host:
            root = await host.create("busy")
            await run_loop_a_while()
            tree = await host.trees.load(root)
            assert 0 < tree.actor.get_snapshot().context["n"] < 1000

    simulate(main)


def test_other_tasks_run_between_inline_commits() -> None:
    async def main() -> None:
        computed: list[str] = []
        async with runtime(MemoryStore(), counter(computed)) as host:
            root = await host.create("counter")
            sending = [asyncio.create_task(host.send(root, {"type": "ADD", "of": "a"})) for _ in range(100)]
            counts = set()
            while not all(task.done() for task in sending):
                counts.add(len(computed))
                await asyncio.sleep(0)
            assert len(counts) > 3

    simulate(main)
