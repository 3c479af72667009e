"""Streams of debaters at once, read from the model and from nothing else."""

from __future__ import annotations

import asyncio
import json
import sys
from time import perf_counter, process_time

from antiphon.messages import user
from antiphon.providers.base import Request, TextDelta
from speaking.model import Bench, Metronome
from speaking.spans import percentiles


async def listen(debater: Metronome) -> list[float]:
    """Milliseconds from letting go of a chunk to having it."""
    found = []
    async for delta in debater.stream(Request((user("Speak."),))):
        if isinstance(delta, TextDelta):
            found.append((perf_counter() - debater.let_go[0][int(delta.text)]) * 1000)
    return found


async def main(count: int, chunks: int, pace_ms: float) -> None:
    """All debaters at once."""
    bench = Bench(count, chunks, pace_ms)
    before = process_time()
    heard = await asyncio.gather(*map(listen, bench.debaters.values()))
    cpu_us = (process_time() - before) / (count * chunks) * 1e6
    print(json.dumps({"cpu_us": cpu_us, "added_ms": percentiles(heard)}))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
