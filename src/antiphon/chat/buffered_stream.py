"""A reply as it accumulates, without a machine."""

from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.chart.text import GrowingText
from antiphon.chat.batching import batch_events
from antiphon.runtime.coalescing import COALESCE_MS, COALESCE_SIZE

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StreamState:
    """The part of a reply that has arrived."""

    text: GrowingText = field(default_factory=GrowingText)
    thinking: GrowingText = field(default_factory=GrowingText)
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    is_complete: bool = False
    cost_usd: float | None = None
    duration_ms: float | None = None
    error: Event | None = None

    def after(self, event: Event) -> "StreamState":
        """Return the state after an event; events of other kinds change nothing."""
        match event["type"]:
            case "TEXT_CHUNK":
                return replace(self, text=self.text + event["content"])
            case "THINKING_CHUNK":
                return replace(self, thinking=self.thinking + event["content"])
            case "TOOL_START":
                return self._with_tool(event["toolId"], {"name": event["toolName"], "status": "running"})
            case "TOOL_COMPLETE" if event["toolId"] in self.tools:
                status = "error" if event["isError"] else "complete"
                ended = {**self.tools[event["toolId"]], "status": status, "durationMs": event["durationMs"]}
                return self._with_tool(event["toolId"], ended)
            case "COMPLETE":
                return replace(self, is_complete=True, cost_usd=event["costUsd"], duration_ms=event["durationMs"])
            case "ERROR":
                return replace(self, error={key: event[key] for key in ("code", "message", "recoverable")})
        return self

    def _with_tool(self, id: str, tool: Mapping[str, Any]) -> "StreamState":
        return replace(self, tools={**self.tools, id: tool})


class BufferedStream:
    """Accumulates the events of one request and yields the state, a frame at a time."""

    __slots__ = ("_clock", "_events", "_every_ms", "_most_characters", "_request_id", "state")

    def __init__(
        self,
        events: AsyncIterable[Event],
        *,
        request_id: str | None = None,
        clock: Clock = REAL_CLOCK,
        every_ms: float = COALESCE_MS,
        most_characters: int = COALESCE_SIZE,
    ) -> None:
        self._events = events
        self._request_id = request_id
        self._clock = clock
        self._every_ms = every_ms
        self._most_characters = most_characters
        self.state = StreamState()

    async def __aiter__(self) -> AsyncGenerator[StreamState, None]:
        """Iterate over the state after each frame, until the events end."""
        frames = batch_events(
            self._own_events(), clock=self._clock, every_ms=self._every_ms, most_characters=self._most_characters
        )
        async with aclosing(frames):
            async for events in frames:
                before = self.state
                for event in events:
                    self.state = self.state.after(event)
                if self.state is not before:
                    yield self.state

    async def _own_events(self) -> AsyncGenerator[Event, None]:
        async for event in self._events:
            if self._request_id is None or event.get("requestId") in (None, self._request_id):
                yield event
