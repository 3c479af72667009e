"""The end of an idle server that a window has started: no window, no running thread, and no timer that is due soon."""

import asyncio
import logging
from collections.abc import Callable

from antiphon.server.context import ServerContext

RUNNING = "running"
LOOKS = 20  # in the time after which an idle server ends
LONGEST_WAIT_S = 5.0
_log = logging.getLogger("antiphon.server")


async def is_busy(context: ServerContext, *, requests: int = 0) -> bool:
    """Return whether a server is in use, apart from a number of requests, or will be within the idle time."""
    if context.metrics.running > requests:
        return True
    if await context.app.library.latest(1, status=RUNNING, archived=None):
        return True
    soon = context.app.runtime.now() + context.settings.idle_s * 1000
    return any(due <= soon for _, due in await context.app.runtime.store.due_times())


async def end_when_idle(context: ServerContext, stop: Callable[[], None]) -> None:
    """Stop a server when it has been idle for the time of its settings."""
    loop = asyncio.get_running_loop()
    idle_s = context.settings.idle_s
    idle_since = loop.time()
    answered = -1
    while loop.time() - idle_since < idle_s:
        await asyncio.sleep(min(LONGEST_WAIT_S, idle_s / LOOKS))
        total = sum(context.metrics.requests.values())
        if total != answered or await is_busy(context):
            idle_since = loop.time()
        answered = total
    _log.info("idle for %g seconds; ending", idle_s)
    stop()
