"""Batches of stream events."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from typing import Any

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.runtime.coalescing import COALESCE_MS, COALESCE_SIZE, Coalescer, CoalescingWindow
from antiphon.threads.reply import CHUNKS

Event = Mapping[str, Any]


async def batch_events(
    events: AsyncIterable[Event],
    *,
    clock: Clock = REAL_CLOCK,
    every_ms: float = COALESCE_MS,
    most_characters: int = COALESCE_SIZE,
) -> AsyncGenerator[list[Event], None]:
    """Iterate over lists of events: chunks are collected up to a time or a size, other events end a list at once."""
    batches: asyncio.Queue[list[Event] | None] = asyncio.Queue()
    coalescer = Coalescer(
        lambda waiting: batches.put_nowait([event for _, event in waiting]),
        clock,
        window=CoalescingWindow(every_ms),
        max_size=most_characters,
    )
    reading = asyncio.create_task(_read(events, coalescer, batches))
    try:
        while (batch := await batches.get()) is not None:
            yield batch
        await reading
    finally:
        coalescer.stop()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _read(events: AsyncIterable[Event], coalescer: Coalescer, batches: asyncio.Queue[list[Event] | None]) -> None:
    try:
        async for event in events:
            coalescer.add("", event, "content" if event["type"] in CHUNKS else None)
            if event["type"] not in CHUNKS:
                coalescer.flush()
    finally:
        coalescer.flush()
        batches.put_nowait(None)
