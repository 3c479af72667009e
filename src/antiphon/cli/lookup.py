"""Threads, runs and debates found by the start of their id."""

from antiphon.agents.record import RUN
from antiphon.debate.library import CHILD as DEBATE
from antiphon.threads.errors import UnknownThread
from antiphon.threads.library import Library

SHOWN = 5
LAST = "last"


class Ambiguous(Exception):
    """More than one thread, or debate, begins so."""


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
    return await _one_of_kind(library, RUN, start)


async def one_debate(library: Library, start: str) -> str:
    """The debate whose id begins so; `last` is the latest."""
    return await _one_of_kind(library, DEBATE, start)


async def _one_of_kind(library: Library, kind: str, start: str) -> str:
    if start == LAST:
        found = [view.id for view in await library.latest(1, kind=kind)]
    else:
        found = [id for id in await library.matching(start) if (await library.read(id)).view.kind == kind]
    if not found:
        if start == LAST:
            raise UnknownThread(f"there is no {kind} yet; antiphon {kind} begins one")
        raise UnknownThread(f"there is no {kind} {start!r}; antiphon {kind}s list shows all")
    if len(found) > 1:
        raise Ambiguous(f"{start!r} is the start of {len(found)} {kind}s: {', '.join(found[:SHOWN])}")
    return found[0]
