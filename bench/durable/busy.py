"""Busy actors of the runtime: each has somebody who sends the next event as soon as the last is stored."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from antiphon.runtime.records import Commit
from antiphon.runtime.runtime import Runtime
from antiphon.stores.sqlite import SqliteStore
from durable.charts import two_steps
from durable.turns import each, serve

WARM_UP = 20  # events per actor


class CountingStore(SqliteStore):
    """A store that counts its transactions."""

    transactions = 0

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Make all commits durable, and count that as one."""
        self.transactions += 1
        await super().commit(commits, written)


async def main(folder: Path, actors: int) -> None:
    """Create the actors, prove that they count, and then do as the driver asks."""
    store = CountingStore(folder / f"busy-{actors}.db")
    async with Runtime(store, [two_steps()]) as runtime:
        roots = [await runtime.create("loop") for _ in range(actors)]

        async def insist(root: str, events: int) -> None:
            for _ in range(events):
                receipt = await runtime.send(root, {"type": "GO"})
                assert receipt.status == "accepted"

        async def burst(events: int = each(actors)) -> int:
            await asyncio.gather(*(insist(root, events) for root in roots))
            return len(roots) * events

        store.transactions = 0
        sent = await burst(WARM_UP)
        snapshot = await runtime.snapshot(roots[-1])
        assert snapshot["context"] == {"n": WARM_UP}
        await serve(burst, events_per_transaction=sent / store.transactions)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
