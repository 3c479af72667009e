"""Threads looked up by the start of their id, or as the last one."""

from antiphon.cli.frame import Misuse
from antiphon.threads.errors import UnknownThread
from antiphon.threads.library import Library

SHOWN = 5
LAST = "last"
ID_HELP = "the start of its id is enough, or: last"
# The command that lists threads of a kind, and the one that creates them.
LISTS = {None: "threads", "chat": "threads", "run": "runs", "debate": "debates"}
CREATES = {None: "chat", "chat": "chat", "run": "run", "debate": "debate"}


async def find_thread(library: Library, start: str, kind: str | None = None, *, archived: bool = False) -> str:
    """The id of the thread, of a kind if one is named, whose id starts so.

    `last` is the latest that is not archived, or the latest that is.
    """
    noun = kind or "thread"
    if start == LAST:
        latest = await library.latest(1, archived=archived, kind=kind)
        if not latest:
            if archived:
                raise UnknownThread(f"no {noun} is archived")
            raise UnknownThread(f"there is no {noun} yet; antiphon {CREATES[kind]} begins one")
        return latest[0].id
    ids = await library.find(start, kind)
    if not ids:
        raise UnknownThread(f"there is no {noun} {start!r}; antiphon {LISTS[kind]} list shows all")
    if len(ids) > 1:
        raise Misuse(f"{start!r} is the start of {len(ids)} {noun}s: {', '.join(ids[:SHOWN])}")
    return ids[0]
