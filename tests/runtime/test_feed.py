"""Feeds: the queries that readers cost, and slow readers."""

import asyncio
from typing import Any

from antiphon import create_machine
from antiphon.runtime.feed import PAGE, RECENT
from antiphon.runtime.records import Entry
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import runtime, simulate

PINGED = create_machine({"id": "pinged", "on": {"PING": {}}})


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
