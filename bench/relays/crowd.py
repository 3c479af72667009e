"""Many streams at once in one process: `python -m relays.crowd URL COUNT WORDS`."""

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
from antiphon.providers.registry import Models

REQUEST = Request((user("Hello"),))
PATIENT = Timeouts(60_000, 60_000, 60_000)
PERIOD_S = 0.05
# As long as a real one: it is searched for in everything that a server sends.
KEY = "bench-key-" + "0123456789" * 9


async def read(provider: Provider) -> list[float]:
    """One stream to its end; when each word came."""
    clock = monotonic
    return [clock() async for delta in provider.stream(REQUEST) if type(delta) is TextDelta]


def lateness_ms(came: list[float]) -> list[float]:
    """How late each word of a stream was, by the pace that its earliest word sets."""
    paced = [at - number * PERIOD_S for number, at in enumerate(came)]
    earliest = min(paced)
    return [(at - earliest) * 1000 for at in paced]


async def crowd(url: str, count: int, words: int) -> dict[str, float]:
    """All streams at once; what they took, how late they were and what they left."""
    keys = Keys({"ANTHROPIC_API_KEY": KEY}, Path("/nowhere"))
    async with Models(keys=keys, base_urls={"anthropic": url}, timeouts=PATIENT) as models:
        provider = models.open("anthropic:m-crowd")
        await read(provider)
        before = len(asyncio.all_tasks())
        cpu = process_time()
        streams = await asyncio.gather(*(read(provider) for _ in range(count)))
        cpu = process_time() - cpu
        assert all(len(came) == words for came in streams)
        # While all of them run, nobody begins and nobody is done.
        begun, done = max(came[0] for came in streams), min(came[-1] for came in streams)
        together = sum(begun <= at <= done for came in streams for at in came)
        late = sorted(late for came in streams for late in lateness_ms(came))
        return {
            "streams": count,
            "seconds in which all of them ran": done - begun,
            "words per second in these": together / (done - begun),
            "cpu µs per word, beginnings included": cpu / (count * words) * 1e6,
            "ms late, p50": late[len(late) // 2],
            "ms late, p99": late[len(late) * 99 // 100],
            "tasks left": len(asyncio.all_tasks()) - before,
            "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def main(url: str, count: str, words: str) -> None:
    """Run the crowd."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(json.dumps(asyncio.run(crowd(url, int(count), int(words)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
