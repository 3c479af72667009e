"""Many idle actors: one process stores them, another starts a runtime on them and sends to one."""

from __future__ import annotations

from time import perf_counter

BEGAN = perf_counter()  # importing is part of starting

import asyncio  # noqa: E402
import resource  # noqa: E402
import sys  # noqa: E402
from dataclasses import replace  # noqa: E402
from pathlib import Path  # noqa: E402

from antiphon.runtime.records import Commit, Saved  # noqa: E402
from antiphon.runtime.runtime import Runtime  # noqa: E402
from antiphon.stores.sqlite import SqliteStore  # noqa: E402
from durable.charts import two_steps  # noqa: E402
from durable.turns import answer  # noqa: E402

CHUNK = 2000


async def fill(path: Path, actors: int) -> None:
    """Create one actor properly, and store copies of it."""
    async with Runtime(SqliteStore(path), [two_steps()]) as runtime:
        first = await runtime.store.load(await runtime.create("loop", root="0"))
        assert first is not None
        for start in range(1, actors, CHUNK):
            numbers = range(start, min(actors, start + CHUNK))
            await runtime.store.commit([copy(first, str(number)) for number in numbers])
    answer({"actors": actors})


def copy(first: Saved, root: str) -> Commit:
    """The commit that creates another actor like the first."""
    (entry,) = first.entries
    origin = replace(first.origin, id=f"copy-{root}")
    return Commit(root, 0, entry.at, first.status, origin=origin, entries=(entry._replace(root=root),))


async def wake(path: Path, actors: int) -> None:
    """Start on what is there, and send to the last one."""
    async with Runtime(SqliteStore(path), [two_steps()]) as runtime:
        started = perf_counter() - BEGAN
        receipt = await runtime.send(str(actors - 1), {"type": "GO"})
        assert (receipt.status, receipt.seq) == ("accepted", 2)
        answer({"start_s": started, "first_s": perf_counter() - BEGAN, "rss_mb": peak_mb()})


def peak_mb() -> float:
    """The most memory that this process has had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1_000_000 if sys.platform == "darwin" else 1000)


if __name__ == "__main__":
    play = {"fill": fill, "wake": wake}[sys.argv[1]]
    asyncio.run(play(Path(sys.argv[2]) / "idle.db", int(sys.argv[3])))
