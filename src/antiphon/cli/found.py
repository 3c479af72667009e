"""Threads and debates found by the start of their id."""

from antiphon.app.debate_shelf import DebateShelf
from antiphon.app.errors import UnknownThread
from antiphon.app.library import Library

SHOWN = 5


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


async def one_debate(shelf: DebateShelf, start: str) -> str:
    """The debate whose id begins so."""
    found = await shelf.matching(start)
    if not found:
        raise UnknownThread(f"there is no debate {start!r}; antiphon debates list shows all")
    if len(found) > 1:
        raise Ambiguous(f"{start!r} is the start of {len(found)} debates: {', '.join(found[:SHOWN])}")
    return found[0]
