"""Threads and runs found by the start of their id."""

from antiphon.app.errors import UnknownThread
from antiphon.app.library import Library
from antiphon.app.run_records import RUN

SHOWN = 5
LAST = "last"


class Ambiguous(Exception):
    """More than one thread begins so."""


async def one_thread(library: Library, start: str) -> str:
    """The thread whose id begins so."""
    found = await library.matching(start)
    if not found:
        raise UnknownThread(f"there is no thread {start!r}; antiphon threads list shows all")
    if len(found) > 1:
        raise Ambiguous(f"{start!r} is the start of {len(found)} threads: {', '.join(found[:SHOWN])}")
    return found[0]


async def one_run(library: Library, start: str) -> str:
    """The run whose id begins so; `last` is the latest."""
    if start == LAST:
        found = [view.id for view in await library.latest(1, kind=RUN)]
    else:
        found = [id for id in await library.matching(start) if (await library.read(id)).view.kind == RUN]
    if not found:
        raise UnknownThread("there is no run yet" if start == LAST else f"there is no run {start!r}")
    if len(found) > 1:
        raise Ambiguous(f"{start!r} is the start of {len(found)} runs: {', '.join(found[:SHOWN])}")
    return found[0]
