"""Threads that a former process left behind: resumed at the start of a server, if its operator wants that."""

import asyncio
import logging

from antiphon.app import App
from antiphon.threads import Refused, UnknownThread

PAGE = 100
LEFT_BEHIND = ("running", "interrupted")
_log = logging.getLogger("antiphon.server")


async def left_behind(app: App) -> list[str]:
    """Return the threads that ran when a process ended: stored as running, or marked as interrupted."""
    ids: list[str] = []
    for status in LEFT_BEHIND:
        cursor = None
        while views := await app.library.latest(PAGE, status=status, after=cursor):
            ids += [view.id for view in views]
            cursor = views[-1].cursor
    return ids


async def resume_interrupted(app: App) -> list[str]:
    """Resume the threads that were interrupted, each as soon as it is idle; return those that were resumed."""
    results = await asyncio.gather(*(_resume(app, id) for id in await left_behind(app)))
    return [id for id in results if id is not None]


async def _resume(app: App, id: str) -> str | None:
    try:
        # What a lost process left to do, such as tasks that are repeated, comes first.
        if await app.threads.until_idle(id) != "interrupted":
            return None
        await app.threads.resume(id)
    except (Refused, UnknownThread) as error:
        _log.warning("thread %s was not resumed: %s", id, error)
        return None
    _log.info("thread %s was resumed", id)
    return id
