"""Sessions of runs at the edge: opened by requests, closed when the machine drops them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any

from antiphon.actors.loop import running_loop
from antiphon.agents.machine.sessions import closing_sessions

LOG = logging.getLogger(__name__)
_CLOSING: set[asyncio.Task[None]] = set()  # the event loop keeps only weak references to its tasks


def close_by(close: Callable[[str], None]) -> Callable[..., None]:
    """Return the effect `cleanupSession` for sessions that are values: it closes each by its id."""

    def clean_up(context: Any, event: Mapping[str, Any]) -> None:
        for session in closing_sessions(context, event):
            if isinstance(session, Mapping) and isinstance(session.get("id"), str):
                close(session["id"])

    return clean_up


def close_session(context: Any, event: Mapping[str, Any]) -> None:
    """Call `close` of session objects, async or not: the effect `cleanupSession` of a machine that is driven by hand.

    An error of it is logged, because the run has ended.
    """
    for session in closing_sessions(context, event):
        close = getattr(session, "close", None)
        if close is not None:
            _run(_finish(close))


def _run(closing: Any) -> None:
    loop = running_loop()
    if loop is None:
        asyncio.run(closing)
        return
    task = loop.create_task(closing)
    _CLOSING.add(task)
    task.add_done_callback(_CLOSING.discard)


async def _finish(close: Callable[[], Awaitable[object] | object]) -> None:
    try:
        result = close()
        if isawaitable(result):
            await result
    except Exception:
        LOG.exception("a provider session could not be closed")
