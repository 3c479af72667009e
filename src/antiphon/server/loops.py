"""The event loop of a server: that of uvloop, where it is installed."""

import asyncio
from collections.abc import Callable

import uvloop


def fast_loop() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return the function that makes an event loop."""
    return uvloop.new_event_loop
