"""Events read from standard input: a type, a type with a payload, or an event as JSON."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any, TextIO

from antiphon.chart.explore.labels import event_label, written_transitions
from antiphon.chart.machine import Machine


class InvalidEvent(Exception):
    """Raised for a line that is not an event."""


class EventParser:
    """Parses lines as events of a machine; `done x` is short for `xstate.done.actor.x`."""

    def __init__(self, machine: Machine[Any, Any]) -> None:
        self._types = {}
        for node in machine.root.walk():
            types = [f"xstate.{ending}.actor.{invoke.id}" for invoke in node.invokes for ending in ("done", "error")]
            types.extend(transition.event_type for transition in written_transitions(node))
            self._types.update({event_label(type, node): type for type in types})

    def parse(self, line: str) -> dict[str, Any]:
        """Return the event in a line; `{"after": ms}` is returned as it is."""
        text = line.strip()
        if text.startswith("{"):
            return _check_event(_parse_json(text), text)
        name, brace, payload_text = text.partition("{")
        name = name.strip()
        payload = _parse_json(brace + payload_text) if brace else {}
        return {**payload, "type": self._types.get(name, name)}


def _parse_json(text: str) -> dict[str, Any]:
    try:
        loaded: dict[str, Any] = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidEvent(f"invalid JSON: {text}") from error
    return loaded


def _check_event(event: dict[str, Any], text: str) -> dict[str, Any]:
    after = event.get("after")
    is_pause = "type" not in event and isinstance(after, int | float) and not isinstance(after, bool) and after >= 0
    if is_pause or isinstance(event.get("type"), str):
        return event
    raise InvalidEvent(f'"type" must be a string in {text}')


async def read_lines(source: TextIO) -> AsyncIterator[str]:
    """Yield the lines of a file as they arrive, without blocking the event loop."""
    loop = asyncio.get_running_loop()
    queue = asyncio.Queue[str | None]()

    def read() -> None:
        # On a daemon thread, because reading a terminal cannot be cancelled.
        try:
            for line in source:
                loop.call_soon_threadsafe(queue.put_nowait, line)
            loop.call_soon_threadsafe(queue.put_nowait, None)
        except (RuntimeError, ValueError):
            pass  # the loop or the file is closed

    threading.Thread(target=read, name="keyboard", daemon=True).start()
    while (line := await queue.get()) is not None:
        if line.strip():
            yield line
