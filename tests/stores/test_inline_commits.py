"""With a fast disk commits run on the event loop, with a slow one on a thread."""

import asyncio
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from antiphon.runtime.errors import StoreBusy
from antiphon.stores import file_store, files, sqlite
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_samples import first_commit, steps
from tests.stores.open_store import use


class Disk:
    """Clock that advances by the time of one flush whenever it is read."""

    def __init__(self) -> None:
        self.flush_s = 0.0001
        self._now = 0.0

    def clock(self) -> float:
        """Return the time, and advance it by one flush."""
        self._now += self.flush_s
        return self._now


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(file_store, "perf_counter", disk.clock)
    return disk


def on_a_store(folder: Path, main: Callable[[SqliteStore], Awaitable[None]]) -> None:
    """Run a coroutine on a store with one tree, `a`."""

    async def run(store: SqliteStore) -> None:
        await store.commit([first_commit("a")])
        await main(store)

    use(SqliteStore(folder / "a.db"), run)


def commits_without_waiting(committing: Any) -> bool:
    """Return whether a commit finishes without waiting; if not, it is left to the loop."""
    try:
        committing.send(None)
    except StopIteration:
        return True
    return False


async def reaches_mode(store: SqliteStore, *, inline: bool, within: int, numbers: Iterator[int]) -> bool:
    """Return whether the store switches to inline commits, or away from them, within so many commits."""
    for _ in range(within):
        await store.commit([steps("a", next(numbers))])
        if store.commits_inline == inline:
            return True
    return False


def test_with_a_fast_disk_commits_are_inline(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        assert commits_without_waiting(store.commit([first_commit("b"), first_commit("c")]))
        assert commits_without_waiting(store.commit([steps("a", 1)]))
        assert [tree.seq for tree in await store.roots()] == [2, 1, 1]

    on_a_store(tmp_path, main)


def test_a_disk_that_becomes_slow_gets_a_thread_and_one_that_recovers_does_without(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        numbers = count(1)
        disk.flush_s = 0.02
        assert await reaches_mode(store, inline=False, within=10, numbers=numbers)
        committing = asyncio.ensure_future(store.commit([steps("a", next(numbers))]))
        await asyncio.sleep(0)
        assert not committing.done()
        await committing

        disk.flush_s = 0.0001
        assert await reaches_mode(store, inline=True, within=50, numbers=numbers)
        assert commits_without_waiting(store.commit([steps("a", next(numbers))]))
        assert [tree.seq for tree in await store.roots()] == [next(numbers)]

    on_a_store(tmp_path, main)


def test_now_and_then_a_flush_may_take_as_long_as_copying_the_log(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        disk.flush_s = 0.01
        await store.commit([steps("a", 1)])
        assert store.commits_inline

    on_a_store(tmp_path, main)


def test_after_a_single_hang_commits_are_soon_inline_again(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        disk.flush_s = 60.0
        await store.commit([steps("a", 1)])
        assert not store.commits_inline
        disk.flush_s = 0.0001
        assert await reaches_mode(store, inline=True, within=15, numbers=count(2))

    on_a_store(tmp_path, main)


def test_while_the_thread_is_at_work_commits_wait_their_turn(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        with store._lock:
            assert not store.commits_inline
            committing = asyncio.ensure_future(store.commit([steps("a", 1)]))
            reading = asyncio.ensure_future(store.roots())
            await asyncio.sleep(0)
            assert not committing.done()
        await committing
        assert [tree.seq for tree in await reading] == [2]

    on_a_store(tmp_path, main)


def test_a_refused_inline_commit_changes_nothing_and_releases_the_lock(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        with pytest.raises(sqlite.Conflict):
            await store.commit([steps("a", 7)])
        assert commits_without_waiting(store.commit([steps("a", 1)]))
        assert [tree.seq for tree in await store.roots()] == [2]

    on_a_store(tmp_path, main)


class Stranger:
    """Another program that has locked the file until the event loop runs, or after some seconds gives up."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("begin immediate")
        self._is_running = threading.Event()
        self._thread = threading.Thread(target=self._hold)
        self._thread.start()
        self.was_patient_enough = False

    def _hold(self) -> None:
        self.was_patient_enough = self._is_running.wait(3)
        self._connection.close()

    def release(self) -> None:
        """Release the file: the event loop runs."""
        self._is_running.set()
        self._thread.join()


def test_a_lock_of_another_program_does_not_block_the_event_loop(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        assert store.commits_inline
        stranger = Stranger(store.path)
        committing = asyncio.ensure_future(store.commit([steps("a", 1)]))
        await asyncio.sleep(0)
        stranger.release()
        await committing
        assert stranger.was_patient_enough
        assert [tree.seq for tree in await store.roots()] == [2]

    on_a_store(tmp_path, main)


def test_after_a_lock_of_another_program_commits_are_inline_again(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        stranger = sqlite3.connect(store.path, isolation_level=None)
        stranger.execute("begin immediate")
        committing = asyncio.ensure_future(store.commit([steps("a", 1)]))
        await asyncio.sleep(0)
        assert not store.commits_inline
        stranger.close()
        await committing
        assert await reaches_mode(store, inline=True, within=50, numbers=count(2))

    on_a_store(tmp_path, main)


def test_a_lock_of_another_program_that_stays_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BUSY_MS", 1)

    async def main(store: SqliteStore) -> None:
        stranger = sqlite3.connect(store.path, isolation_level=None)
        stranger.execute("begin immediate")
        with pytest.raises(StoreBusy, match="a program that is not Antiphon has locked it"):
            await store.commit([steps("a", 1)])
        stranger.close()
        await store.commit([steps("a", 1)])

    on_a_store(tmp_path, main)


def test_the_time_of_a_flush_on_the_thread_says_nothing_of_the_disk(tmp_path: Path, disk: Disk) -> None:
    """A busy event loop holds Python's lock for milliseconds, which the thread waits for after its flush."""

    async def main(store: SqliteStore) -> None:
        numbers = count(1)
        disk.flush_s = 60.0
        await store.commit([steps("a", next(numbers))])
        for _ in range(file_store.FIRST_REST):
            assert not store.commits_inline
            await store.commit([steps("a", next(numbers))])
        disk.flush_s = 0.0001

        assert commits_without_waiting(store.commit([steps("a", next(numbers))]))
        assert store.commits_inline

    on_a_store(tmp_path, main)


def test_a_disk_that_stays_slow_is_tried_less_and_less_often(tmp_path: Path, disk: Disk) -> None:
    async def main(store: SqliteStore) -> None:
        numbers = count(1)
        disk.flush_s = 60.0
        inline = []
        for number in range(100):
            if store.commits_inline:
                inline.append(number)
            await store.commit([steps("a", next(numbers))])

        assert inline == [0, 13, 38, 87]

    on_a_store(tmp_path, main)
