"""Many streams at once in one process: `python -m relays.crowd URL COUNT`."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from pathlib import Path
from time import monotonic, process_time

from antiphon.messages import user
from antiphon.providers.base import Provider, Request, TextDelta, Timeouts
from antiphon.providers.keys import Keys
from antiphon.providers.models import Models

REQUEST = Request((user("Hello"),))
PATIENT = Timeouts(60_000, 60_000, 60_000)
WORDS, PERIOD_S = 40, 2.0


async def read(provider: Provider) -> int:
    """One stream to its end."""
    return sum([type(delta) is TextDelta async for delta in provider.stream(REQUEST)])


async def crowd(url: str, count: int) -> dict[str, float]:
    """All streams at once; what they took and what they left."""
    keys = Keys({"ANTHROPIC_API_KEY": "k"}, Path("/nowhere"))
    async with Models(keys=keys, base_urls={"anthropic": url}, timeouts=PATIENT) as models:
        provider = models.open("anthropic:m-paced")
        await read(models.open("anthropic:m-text"))
        before = len(asyncio.all_tasks())
        began, cpu = monotonic(), process_time()
        words = sum(await asyncio.gather(*(read(provider) for _ in range(count))))
        took, cpu = monotonic() - began, process_time() - cpu
        assert words == count * WORDS, words
        return {
            "streams": count,
            "seconds": took,
            "words per second": words / took,
            "cpu µs per word": cpu / words * 1e6,
            "tasks left": len(asyncio.all_tasks()) - before,
            "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def main(url: str, count: str) -> None:
    """Run the crowd."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(json.dumps(asyncio.run(crowd(url, int(count)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
