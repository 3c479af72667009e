"""Feeds: the queries that readers cost, slow readers, and the end of a tree; watches over all trees."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon import Quarantined, assign, create_machine, from_task
from antiphon.runtime import feed as feeds
from antiphon.runtime.errors import NotRunning, UnknownRoot
from antiphon.runtime.feed import PAGE, RECENT
from antiphon.runtime.records import Entry, Letter
from antiphon.runtime.runtime import Runtime
from antiphon.runtime.store import Store
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from tests.fixtures.runtime import runtime, simulate

PINGED = create_machine(
    {"id": "pinged", "initial": "on", "states": {"on": {"on": {"PING": {}, "END": "over"}}, "over": {"type": "final"}}}
)


class CountingStore(MemoryStore):
    """Store that counts the entries read from it."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[int] = []

    async def entries(self, root: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        """Read the journal, and count its entries."""
        page = await super().entries(root, after, limit)
        self.reads.append(len(page))
        return page


async def read(feed: Any, until: int) -> list[int]:
    seqs = []
    async for entry in feed:
        seqs.append(entry.seq)
        if entry.seq == until:
            break
    await feed.aclose()
    return seqs


async def grow(host: Any, root: str, steps: int) -> None:
    for _ in range(steps):
        await host.send(root, {"type": "PING"})


def test_a_long_journal_is_read_a_page_at_a_time() -> None:
    async def main() -> None:
        store = CountingStore()
        async with runtime(store, PINGED) as host:
            root = await host.create("pinged")
            await grow(host, root, 2 * PAGE)

            assert await read(host.feed(root), 2 * PAGE) == list(range(1, 2 * PAGE + 1))
            assert max(store.reads) == PAGE

    simulate(main)


def test_readers_who_keep_up_cost_no_query_for_what_comes() -> None:
    async def main() -> None:
        store = CountingStore()
        async with runtime(store, PINGED) as host:
            root = await host.create("pinged")
            readers = [asyncio.create_task(read(host.feed(root), 21)) for _ in range(10)]
            await asyncio.sleep(1)
            before = len(store.reads)
            await grow(host, root, 20)

            assert [len(await reader) for reader in readers] == [21] * 10
            assert len(store.reads) == before

    simulate(main)


def test_a_reader_who_fell_behind_misses_nothing_and_sees_nothing_twice() -> None:
    async def main() -> None:
        store = CountingStore()
        async with runtime(store, PINGED) as host:
            root = await host.create("pinged")
            feed = host.feed(root)
            first = await anext(feed)
            steps = 3 * RECENT
            await grow(host, root, steps)

            assert [first.seq, *await read(feed, steps + 1)] == list(range(1, steps + 2))
            assert max(store.reads) <= PAGE

    simulate(main)


# -- the end -------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    """Open a store: the same one, whenever it is called."""
    if request.param == "sqlite":
        return lambda: SqliteStore(tmp_path / "trees.db")
    memory = MemoryStore()
    return lambda: memory


def test_the_feed_of_a_tree_that_ends_gives_its_last_entry_and_ends(store: Callable[[], Store]) -> None:
    async def main() -> None:
        async with Runtime(store(), [PINGED]) as host:
            root = await host.create("pinged")
            waiting = asyncio.create_task(collect(host.feed(root)))
            await asyncio.sleep(0)
            await grow(host, root, 3)
            await host.send(root, {"type": "END"})

            assert await waiting == [1, 2, 3, 4, 5]
            assert await collect(host.feed(root, 3)) == [4, 5]
            assert await collect(host.feed(root, 5)) == []
        async with Runtime(store(), [PINGED]) as host:
            assert await collect(host.feed(root)) == [1, 2, 3, 4, 5]

    asyncio.run(main())


def test_the_feed_of_a_tree_that_ends_while_it_is_read_slowly_is_whole() -> None:
    async def main() -> None:
        async with runtime(MemoryStore(), PINGED) as host:
            root = await host.create("pinged")
            feed = host.feed(root)
            first = await anext(feed)
            await grow(host, root, 3 * RECENT)
            await host.send(root, {"type": "END"})

            assert [first.seq, *await collect(feed)] == list(range(1, 3 * RECENT + 3))

    simulate(main)


async def collect(feed: Any) -> list[int]:
    return [entry.seq async for entry in feed]


def test_the_feed_of_a_tree_that_fails_ends() -> None:
    async def fail() -> None:
        raise OSError("nothing there")

    failing = create_machine({"id": "failing", "invoke": {"src": "fail"}}, actors={"fail": from_task(fail)})

    async def main() -> None:
        async with runtime(MemoryStore(), failing) as host:
            assert await collect(host.feed(await host.create("failing"))) == [1, 2]

    simulate(main)


def test_a_tree_that_there_is_not_has_no_feed(store: Callable[[], Store]) -> None:
    async def main() -> None:
        async with Runtime(store(), [PINGED]) as host:
            with pytest.raises(UnknownRoot, match="'none'"):
                await anext(host.feed("none"))

    asyncio.run(main())


def bursting(is_mended: list[bool]) -> Any:
    """A machine whose timer fires into a function that raises, until it is mended."""

    def burst() -> dict[str, Any]:
        if not is_mended:
            raise KeyError("colour")
        return {"burst": True}

    return create_machine(
        {
            "id": "bursting",
            "context": {"burst": False},
            "initial": "calm",
            "states": {"calm": {"after": {100: {"target": "over", "actions": "burst"}}}, "over": {"type": "final"}},
        },
        actions={"burst": assign(burst)},
    )


def test_the_feed_of_a_quarantined_tree_ends_with_the_reason_or_waits_for_its_release(
    store: Callable[[], Store],
) -> None:
    async def main() -> None:
        is_mended: list[bool] = []
        async with Runtime(store(), [bursting(is_mended)]) as host:
            root = await host.create("bursting")
            patient = asyncio.create_task(collect(host.feed(root, wait_for_release=True)))
            feed = host.feed(root)
            assert (await anext(feed)).seq == 1
            with pytest.raises(Quarantined, match="is quarantined; release it when the cause is mended: KeyError"):
                await anext(feed)
            with pytest.raises(Quarantined, match="KeyError: 'colour'"):
                await collect(host.feed(root, 1))

            assert not patient.done()
            is_mended.append(True)
            await host.release(root)
            assert await patient == [1, 2]
            assert await collect(host.feed(root)) == [1, 2]

    asyncio.run(main())


# -- watches -------------------------------------------------------------------------------------------------------


async def changes_of(watch: Any) -> tuple[dict[str, str], bool]:
    changes = await anext(watch)
    return dict(changes.roots), changes.is_behind


def test_a_watch_names_the_trees_that_have_changed_since_it_was_read() -> None:
    async def main() -> None:
        async with runtime(MemoryStore(), PINGED) as host:
            watch = host.watch()
            assert await changes_of(watch) == ({}, True)
            await host.create("pinged", root="a")
            assert await changes_of(watch) == ({"a": "created"}, False)
            await grow(host, "a", 5)
            await host.create("pinged", root="b")
            await host.send("b", {"type": "PING"})
            assert await changes_of(watch) == ({"a": "changed", "b": "created"}, False)
            await host.send("a", {"type": "END"})
            assert await changes_of(watch) == ({"a": "changed"}, False)
            fork = await host.fork("a", 1)
            assert await changes_of(watch) == ({fork: "created"}, False)

    simulate(main)


def test_steps_of_descendants_are_told_of_the_trees_that_are_named() -> None:
    async def main() -> None:
        async with runtime(MemoryStore(), PARENT) as host:
            all_steps = host.watch(["a"])
            await anext(all_steps)
            roots_only = host.watch()
            await anext(roots_only)
            for root in ("a", "b"):
                await host.create("parent", root=root)
            await anext(all_steps)
            await anext(roots_only)
            pending = asyncio.create_task(anext(roots_only))
            await asyncio.sleep(1)

            assert await changes_of(all_steps) == ({"a": "step"}, False)
            assert not pending.done()
            pending.cancel()

    simulate(main)


async def nap() -> None:
    await asyncio.sleep(0.5)


CHILD = create_machine(
    {"id": "child", "initial": "a", "states": {"a": {"invoke": {"src": "nap", "onDone": "b"}}, "b": {}}},
    actors={"nap": from_task(nap)},
)
PARENT = create_machine({"id": "parent", "invoke": {"src": "child", "id": "child"}}, actors={"child": CHILD})


def test_a_watch_keeps_no_more_trees_than_its_limit_and_says_that_it_is_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "WATCHED", 3)

    async def main() -> None:
        async with runtime(MemoryStore(), PINGED) as host:
            watch = host.watch()
            await anext(watch)
            sizes = []
            for number in range(10):
                await host.create("pinged", root=f"r{number}")
                (kept,) = host.feeds._watches
                sizes.append(len(kept.changes.roots))

            assert max(sizes) == 3
            assert await changes_of(watch) == ({}, True)
            await grow(host, "r1", 1)
            assert await changes_of(watch) == ({"r1": "changed"}, False)

    simulate(main)


def test_watches_end_with_the_runtime_and_leave_nothing() -> None:
    async def main() -> None:
        async with runtime(MemoryStore(), PINGED) as host:
            waiting = [asyncio.create_task(collect_watch(host.watch())) for _ in range(2)]
            closed = host.watch()
            await anext(closed)
            await closed.aclose()
            await asyncio.sleep(1)
            assert len(host.feeds._watches) == 2
        assert [len(await task) for task in waiting] == [1, 1]
        assert host.feeds._watches == []

    simulate(main)


async def collect_watch(watch: Any) -> list[Any]:
    return [changes async for changes in watch]


# -- waiting for a state -------------------------------------------------------------------------------------------


def test_a_state_is_waited_for_through_steps_rejections_and_failures() -> None:
    async def main() -> None:
        async with runtime(MemoryStore(), bursting([])) as host:
            root = await host.create("bursting", root="r")
            await host.post(root, {"type": "NOPE"}, delay_ms=50)
            assert (await host.wait_until(root, lambda state: state.timers == 1)).seq == 1
            with pytest.raises(Quarantined, match="KeyError"):
                await host.wait_until(root, lambda state: state.status == "done")
            with pytest.raises(UnknownRoot):
                await host.wait_until("none", lambda state: True)

    simulate(main)


def test_waiting_for_a_state_ends_with_the_runtime() -> None:
    async def main() -> None:
        host = await runtime(MemoryStore(), PINGED).start()
        root = await host.create("pinged")
        waiting = asyncio.create_task(host.wait_until(root, lambda state: state.status == "done"))
        await asyncio.sleep(1)
        await host.stop()
        with pytest.raises(NotRunning):
            await waiting

    simulate(main)


def test_waiting_for_a_state_ends_when_the_tree_is_quarantined_outside_a_turn() -> None:
    async def main() -> None:
        async with runtime(MemoryStore(), PINGED) as host:
            root = await host.create("pinged")
            waiting = asyncio.create_task(host.wait_until(root, lambda state: state.status == "done"))
            await asyncio.sleep(1)
            async with host.trees.unloaded(root):
                await host.trees.quarantine.quarantine(root, "it could not be loaded")
            with pytest.raises(Quarantined, match="could not be loaded"):
                await waiting

    simulate(main)


def test_a_stored_letter_that_is_due_waits_although_it_is_not_queued_yet() -> None:
    async def main() -> None:
        async with runtime(MemoryStore(), PINGED) as host:
            root = await host.create("pinged")
            tree = await host.trees.load(root)
            for due, waiting, timers in ((host.now() + 1, False, 1), (host.now(), True, 0)):
                tree.posted["x"] = Letter("x", root, {"type": "PING"}, 0, due)
                state = await host.wait_until(root, lambda state: True)
                assert (state.waiting, state.timers) == (waiting, timers)

    simulate(main)


def test_the_latest_entries_of_watched_trees_are_in_memory() -> None:
    async def main() -> None:
        async with runtime(CountingStore(), PINGED) as host:
            root = await host.create("pinged")
            await grow(host, root, 3)
            assert host.recent(root, 0) is None
            watch = host.watch([root])
            await anext(watch)
            await grow(host, root, 2)

            assert [entry.seq for entry in host.recent(root, 5) or ()] == [6]
            assert [entry.seq for entry in host.recent(root, 4) or ()] == [5, 6]
            assert host.recent(root, 6) == []
            assert host.recent(root, 3) is None
            await watch.aclose()
            assert host.recent(root, 5) is None

    simulate(main)


def test_a_watched_tree_that_is_deleted_has_no_entries_in_memory() -> None:
    async def main() -> None:
        async with runtime(CountingStore(), PINGED) as host:
            root = await host.create("pinged")
            watch = host.watch([root])
            await anext(watch)
            await grow(host, root, 2)
            await host.delete(root)

            assert host.recent(root, 1) is None

    simulate(main)
