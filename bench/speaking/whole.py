"""Whole debates at once in one process: how far its memory rises over what it was with nothing to do."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from antiphon.app import App
from antiphon.providers.registry import Models
from speaking.model import Bench


def peak_mb() -> float:
    """The most memory this process has had."""
    return getrusage(RUSAGE_SELF).ru_maxrss / 1024


async def main(path: Path, debates: int, count: int, rounds: int, chunks: int) -> None:
    """Hold debates to their verdicts."""
    async with App(path, models=Models(openers={"scripted": Bench(count, chunks, 0).open})) as app:
        empty = peak_mb()
        ids = [await app.debates.create(Bench(count, chunks, 0).config(rounds)) for _ in range(debates)]

        async def hold(id: str) -> str:
            await app.debates.start(id)
            async for _ in app.debates.until_idle(id, 1):
                pass
            return str((await app.debates.read(id))["outcome"])

        ends = await asyncio.gather(*map(hold, ids))
        assert set(ends) == {"verdict"}, ends
        print(json.dumps({"empty_mb": empty, "peak_mb": peak_mb(), "each_mb": (peak_mb() - empty) / debates}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
