"""Where the disk is swift the event loop commits itself; where it is not, a thread does."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from antiphon.stores import sqlite
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_samples import first_commit, steps
from tests.stores.opened import use


class Disk:
    """What the store sees of the time that its disk takes."""

    def __init__(self) -> None:
        self.flush_s = 0.0001
        self._now = 0.0

    def clock(self) -> float:
        """The time, which goes on by one flush whenever somebody looks."""
        self._now += self.flush_s
        return self._now


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    found = Disk()
    monkeypatch.setattr(sqlite, "perf_counter", found.clock)
    return found


def on_a_store(folder: Path, main: Callable[[SqliteStore], Awaitable[None]]) -> None:
    """Run something on a store with one tree, `a`."""

    async def run(store: SqliteStore) -> None:
        await store.commit([first_commit("a")])
        await main(store)

    use(SqliteStore(folder / "a.db"), run)


def on_the_spot(committing: Any) -> bool:
    """Whether a commit is made without waiting for anybody; if not, it is left to the loop."""
    try:
        committing.send(None)
    except StopIteration:
        return True
    return False


async def becomes(store: SqliteStore, *, swift: bool, within: int, numbers: Iterator[int]) -> bool:
    """Whether the store holds its disk for swift, or not, after so many commits at most."""
    for _ in range(within):
        await store.commit([steps("a", next(numbers))])
        if store.commits_inline == swift:
            return True
    return False


def test_a_swift_disk_lets_the_event_loop_commit_itself(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        assert on_the_spot(store.commit([first_commit("b"), first_commit("c")]))
        assert on_the_spot(store.commit([steps("a", 1)]))
        assert [tree.seq for tree in await store.roots()] == [2, 1, 1]

    on_a_store(tmp_path, main)


def test_a_disk_that_becomes_slow_gets_a_thread_and_one_that_recovers_does_without(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        numbers = count(1)
        disk.flush_s = 0.02
        assert await becomes(store, swift=False, within=10, numbers=numbers)
        waiting = asyncio.ensure_future(store.commit([steps("a", next(numbers))]))
        await asyncio.sleep(0)
        assert not waiting.done()
        await waiting

        disk.flush_s = 0.0001
        assert await becomes(store, swift=True, within=50, numbers=numbers)
        assert on_the_spot(store.commit([steps("a", next(numbers))]))
        assert [tree.seq for tree in await store.roots()] == [next(numbers)]

    on_a_store(tmp_path, main)


def test_now_and_then_a_flush_may_take_as_long_as_copying_the_log(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        disk.flush_s = 0.01
        await store.commit([steps("a", 1)])
        assert store.commits_inline

    on_a_store(tmp_path, main)


def test_a_disk_that_hung_once_is_swift_again_after_a_few_commits(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        disk.flush_s = 60.0
        await store.commit([steps("a", 1)])
        assert not store.commits_inline
        disk.flush_s = 0.0001
        assert await becomes(store, swift=True, within=15, numbers=count(2))

    on_a_store(tmp_path, main)


def test_while_the_thread_is_at_work_commits_wait_their_turn(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        with store._lock:
            assert not store.commits_inline
            waiting = asyncio.ensure_future(store.commit([steps("a", 1)]))
            reading = asyncio.ensure_future(store.roots())
            await asyncio.sleep(0)
            assert not waiting.done()
        await waiting
        assert [tree.seq for tree in await reading] == [2]

    on_a_store(tmp_path, main)


def test_a_refused_commit_on_the_spot_changes_nothing_and_lets_the_next_one_in(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        with pytest.raises(sqlite.Conflict):
            await store.commit([steps("a", 7)])
        assert on_the_spot(store.commit([steps("a", 1)]))
        assert [tree.seq for tree in await store.roots()] == [2]

    on_a_store(tmp_path, main)
