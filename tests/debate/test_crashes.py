"""A debate whose process dies after any of its commits ends as if nothing had happened."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from antiphon.runtime.records import Commit
from antiphon.stores.memory import MemoryStore
from tests.fixtures.debates import CONFIG, brief, debates_of, essence, host, to_the_end
from tests.fixtures.runtime import crash, simulate
from tests.simulation.sqlite import RebootedStore


class Mortal:
    """A store after one of whose commits nothing happens any more."""

    def __init__(self, inner: Any, last: int | None = None) -> None:
        self._inner, self._last = inner, last
        self.commits = 0
        self.died = asyncio.Event()

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Store, and perhaps die of it."""
        await self._inner.commit(commits, written)
        self.commits += 1
        if self.commits == self._last:
            self.died.set()
            await asyncio.Event().wait()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


async def unharmed() -> tuple[dict[str, Any], int]:
    store = Mortal(MemoryStore())
    async with host(store, script=brief) as runtime:
        debates = debates_of(runtime)
        id = await debates.create(CONFIG)
        await to_the_end(debates, id)
        return essence(await debates.read(id)), store.commits


async def harmed(kept: Any, last: int) -> dict[str, Any]:
    store = Mortal(kept, last)
    first = await host(store, script=brief).start()

    async def life() -> None:
        debates = debates_of(first)
        await to_the_end(debates, await debates.create(CONFIG))

    living = asyncio.get_running_loop().create_task(life())
    await store.died.wait()
    living.cancel()
    crash(first)
    async with host(kept, script=brief) as second:
        debates = debates_of(second)
        [thread] = await kept.roots()
        await to_the_end(debates, thread.root)
        debate = await debates.read(thread.root)
        assert debate["costTracker"]["unseen"]["calls"] <= 2
        return essence(debate)


@pytest.fixture(params=["memory", "sqlite"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[int], Any]]:
    """Makes stores that outlive a process."""
    opened: list[RebootedStore] = []

    def make(number: int) -> Any:
        if request.param == "memory":
            return MemoryStore()
        opened.append(RebootedStore(tmp_path / f"{number}.db"))
        return opened[-1]

    yield make
    for store in opened:
        store.finish()


@pytest.mark.requirement("S4-12", "S4-13", "S4-98", "S4-100", "S4-112", "S4-116", "S4-B9")
def test_a_debate_ends_the_same_whichever_commit_its_process_dies_after(stores: Callable[[int], Any]) -> None:
    """Transcript, costs and verdict, at every commit."""
    reference, commits = simulate(unharmed)

    assert commits > 20
    for last in range(1, commits):
        assert simulate(lambda: harmed(stores(last), last)) == reference, f"died after commit {last}"
