"""One actor with a long journal: the first look of a fresh runtime at it, and a look at half of its steps."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from antiphon.runtime.runtime import Runtime
from antiphon.runtime.tree import Tree
from antiphon.stores.sqlite import SqliteStore
from durable.charts import conversation, two_steps
from durable.turns import answer

GROUP, MOST = 16, 1200
REPEATS = 15
REBUILDS = 5
EVENTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "loop": lambda number: {"type": "GO"},
    "talk": lambda number: {"type": "SAY", "text": f"{number:08d} ".ljust(100, "x")},
}


async def fill(path: Path, machine: str, entries: int, tail: int) -> None:
    """Make a journal of at least that length, and so long that so much of it comes after the latest snapshot."""
    event = EVENTS[machine]
    async with Runtime(SqliteStore(path), [two_steps(), conversation()]) as runtime:
        await runtime.create(machine, root="r")
        for start in range(0, entries, GROUP):
            await asyncio.gather(*(runtime.send("r", event(start + number)) for number in range(GROUP)))
        tree = await runtime.trees.load("r")
        for number in range(MOST):
            if tree.seq - tree.snapshot_seq >= tail:
                break
            await runtime.send("r", event(entries + number))
        answer({"entries": tree.seq, "replayed": tree.seq - tree.snapshot_seq})


async def look(path: Path) -> float:
    """Milliseconds until a fresh runtime knows the actor."""
    async with Runtime(SqliteStore(path), [two_steps(), conversation()]) as runtime:
        began = perf_counter()
        snapshot = await runtime.snapshot("r")
        took = perf_counter() - began
    assert snapshot["status"] == "active"
    return took * 1000


async def restore(path: Path) -> None:
    """The median of many fresh runtimes."""
    answer({"ms": median([await look(path) for _ in range(REPEATS)])})


async def rebuild(path: Path) -> None:
    """Milliseconds to rebuild the actor at half of its steps, from a snapshot and from the beginning."""
    async with Runtime(SqliteStore(path), [two_steps(), conversation()]) as runtime:
        store = runtime.store
        saved = await store.load("r")
        assert saved is not None
        half = saved.seq // 2
        nearest = await store.load("r", half)
        assert nearest is not None

        async def from_snapshot() -> Tree:
            return await runtime.time_travel.rebuild("r", half)

        async def from_beginning() -> Tree:
            tree = runtime.trees.new_tree("r", runtime.machines.of(saved.origin), saved.origin)
            tree.replay_all(await store.entries("r", 0, half))
            return tree

        near = await timed_rebuild(from_snapshot)
        far = await timed_rebuild(from_beginning)
        answer({"step": half, "replayed": half - nearest.snapshot_seq, "ms": near, "all_ms": far, "ratio": near / far})


async def timed_rebuild(work: Callable[[], Awaitable[Tree]]) -> float:
    """The median of some rebuilds, in milliseconds."""
    times = []
    for _ in range(REBUILDS):
        began = perf_counter()
        await work()
        times.append((perf_counter() - began) * 1000)
    return median(times)


STEPS = {"look": restore, "rebuild": rebuild}


if __name__ == "__main__":
    step, folder, machine, *sizes = sys.argv[1:]
    file = Path(folder) / f"restore-{machine}.db"
    asyncio.run(fill(file, machine, *map(int, sizes)) if step == "fill" else STEPS[step](file))
