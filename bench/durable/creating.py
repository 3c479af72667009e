"""New actors of the runtime: created by many callers at once, or by one caller after the other."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from antiphon.runtime.runtime import Runtime
from durable.busy import CountingStore
from durable.charts import two_steps
from durable.turns import serve

ROUNDS = 20  # of a burst


async def main(folder: Path, callers: int) -> None:
    """Create actors in rounds, each by so many callers at once."""
    store = CountingStore(folder / f"creating-{callers}.db")
    async with Runtime(store, [two_steps()]) as runtime:

        async def burst() -> int:
            for _ in range(ROUNDS):
                await asyncio.gather(*(runtime.create("loop") for _ in range(callers)))
            return ROUNDS * callers

        await burst()
        store.transactions = 0
        await burst()
        await serve(burst, transactions=store.transactions / ROUNDS)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
