"""Restoring one actor with a long journal: a fresh runtime, and the first look at it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from antiphon.runtime.runtime import Runtime
from antiphon.stores.sqlite import SqliteStore
from durable.charts import conversation, two_steps
from durable.turns import answer

GROUP, MOST = 16, 1200
REPEATS = 15
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


if __name__ == "__main__":
    step, folder, machine, *sizes = sys.argv[1:]
    file = Path(folder) / f"restore-{machine}.db"
    asyncio.run(fill(file, machine, *map(int, sizes)) if step == "fill" else restore(file))
