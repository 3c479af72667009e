"""Chunks that come close together, told as one."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from typing import Any

from antiphon.actors.clock import REAL_CLOCK, Clock

Event = Mapping[str, Any]
CHUNKS = ("TEXT_CHUNK", "THINKING_CHUNK")
EVERY_MS, MOST_CHARACTERS = 50, 4_096


async def batched(
    events: AsyncIterable[Event],
    *,
    clock: Clock = REAL_CLOCK,
    every_ms: float = EVERY_MS,
    most_characters: int = MOST_CHARACTERS,
) -> AsyncGenerator[list[Event], None]:
    """The events in lists: chunks wait for each other, up to a time or a size; anything else goes at once."""
    batch = _Batch(clock, every_ms, most_characters)
    reading = asyncio.create_task(batch.read(events))
    try:
        while not (batch.is_over and batch.is_empty):
            await batch.ready.wait()
            if told := batch.take():
                yield told
        await reading
    finally:
        batch.forget_timer()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


class _Batch:
    """The events that wait to be told."""

    __slots__ = ("_clock", "_events", "_every_ms", "_most", "_pieces", "_size", "_timer", "is_over", "ready")

    def __init__(self, clock: Clock, every_ms: float, most_characters: int) -> None:
        self._clock, self._every_ms, self._most = clock, every_ms, most_characters
        self._events: list[Event] = []
        self._pieces: list[str] = []
        self._size = 0
        self._timer: Any = None
        self.ready = asyncio.Event()
        self.is_over = False

    @property
    def is_empty(self) -> bool:
        return not self._events

    async def read(self, events: AsyncIterable[Event]) -> None:
        """Collect what comes."""
        try:
            async for event in events:
                self._add(event)
        finally:
            self.is_over = True
            self.ready.set()

    def take(self) -> list[Event]:
        """What waits, and waits no longer."""
        self._close_chunk()
        events, self._events, self._size = self._events, [], 0
        self.forget_timer()
        if not self.is_over:
            self.ready.clear()
        return events

    def forget_timer(self) -> None:
        """Wait for nothing more."""
        if self._timer is not None:
            self._clock.clear_timeout(self._timer)
            self._timer = None

    def _add(self, event: Event) -> None:
        if event["type"] not in CHUNKS:
            self._close_chunk()
            self._events.append(event)
            self.ready.set()
            return
        last = self._events[-1] if self._pieces else None
        if last is None or (last["type"], last.get("requestId")) != (event["type"], event.get("requestId")):
            self._close_chunk()
            self._events.append(event)
        self._pieces.append(event["content"])
        self._size += len(event["content"])
        if self._size >= self._most:
            self.ready.set()
        elif self._timer is None:
            self._timer = self._clock.set_timeout(self.ready.set, self._every_ms)

    def _close_chunk(self) -> None:
        if self._pieces:
            self._events[-1] = {**self._events[-1], "content": "".join(self._pieces)}
            self._pieces = []
