"""Taking turns: for each line read, one stream is relayed and its CPU time per delta is written."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from time import process_time

DELTAS = 2_000


def take_turns(relay: Callable[[], Awaitable[int]]) -> None:
    """Relay once per line, and once before to be warm; the relay gives how many texts it saw."""
    asyncio.run(_turns(relay))


async def _turns(relay: Callable[[], Awaitable[int]]) -> None:
    await relay()
    print("ready", flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        began = process_time()
        texts = await relay()
        took = process_time() - began
        assert texts == DELTAS, texts
        print(took / DELTAS * 1e6, flush=True)
