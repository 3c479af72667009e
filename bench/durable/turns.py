"""The child's side of a comparison: one burst of durable events for every line read, timed."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from time import perf_counter, process_time

MESSAGE_LENGTH = 1700
BURST, MOST_EACH = 10_000, 200  # long enough that beginning and end do not count


def each(actors: int) -> int:
    """How many events each of so many actors takes in a burst."""
    return max(1, min(MOST_EACH, BURST // actors))


def message(number: int) -> str:
    """What is said in one turn of a conversation: a text of its own."""
    return f"{number:08d} ".ljust(MESSAGE_LENGTH, "x")


def answer(value: object) -> None:
    """One line to the driver."""
    print(json.dumps(value), flush=True)


async def serve(
    burst: Callable[[], Awaitable[int]], *, warm_up: Callable[[], Awaitable[int]] | None = None, **facts: object
) -> None:
    """Say that we are ready, then do a burst whenever asked; a burst gives the number of its events.

    While the others have their turns, the processor forgets us: a warm-up before the burst is not timed.
    """
    answer(facts)
    for _ in sys.stdin:
        if warm_up is not None:
            await warm_up()
        answer(await timed(burst))


async def timed(burst: Callable[[], Awaitable[int]]) -> dict[str, float]:
    """The events of a burst with its CPU time, of all threads, and its time on the clock."""
    cpu, clock = process_time(), perf_counter()
    events = await burst()
    return {"events": events, "cpu_s": process_time() - cpu, "clock_s": perf_counter() - clock}
