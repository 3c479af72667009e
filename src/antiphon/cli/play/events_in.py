"""Events typed on standard input: a type, a type with a payload, or a whole event as JSON."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any, TextIO

from antiphon.chart.explore.labels import event_label, written_transitions
from antiphon.chart.machine import Machine


class NoEvent(Exception):
    """A line that is no event."""


class Typist:
    """Reads lines as events of a machine; what the machine calls `xstate.done.actor.x` may be typed as `done x`."""

    def __init__(self, machine: Machine[Any, Any]) -> None:
        self._types = {}
        for node in machine.root.walk():
            types = [f"xstate.{ending}.actor.{invoke.id}" for invoke in node.invokes for ending in ("done", "error")]
            types.extend(transition.event_type for transition in written_transitions(node))
            self._types.update({event_label(type, node): type for type in types})

    def event(self, line: str) -> dict[str, Any]:
        """The event in a line; `{"after": ms}` lets time pass instead."""
        text = line.strip()
        if text.startswith("{"):
            return _checked(_json(text), text)
        name, brace, rest = text.partition("{")
        name = name.strip()
        payload = _json(brace + rest) if brace else {}
        return {**payload, "type": self._types.get(name, name)}


def _json(text: str) -> dict[str, Any]:
    try:
        loaded: dict[str, Any] = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise NoEvent(f"not JSON: {text}") from error
    return loaded


def _checked(event: dict[str, Any], text: str) -> dict[str, Any]:
    after = event.get("after")
    is_pause = "type" not in event and isinstance(after, int | float) and not isinstance(after, bool) and after >= 0
    if is_pause or isinstance(event.get("type"), str):
        return event
    raise NoEvent(f'an event has a string under "type", unlike {text}')


async def lines(source: TextIO) -> AsyncIterator[str]:
    """The lines of a file as they come, without holding up the event loop."""
    loop, found = asyncio.get_running_loop(), asyncio.Queue[str | None]()

    def read() -> None:
        # A daemon thread, since reading a terminal cannot be interrupted.
        try:
            for line in source:
                loop.call_soon_threadsafe(found.put_nowait, line)
            loop.call_soon_threadsafe(found.put_nowait, None)
        except (RuntimeError, ValueError):
            pass  # the loop or the file was closed: nobody waits any more

    threading.Thread(target=read, name="keyboard", daemon=True).start()
    while (line := await found.get()) is not None:
        if line.strip():
            yield line
