"""Lookup of threads by a prefix of their id, or as `last`."""

from antiphon.cli.frame import UsageError
from antiphon.threads.errors import UnknownThread
from antiphon.threads.library import Library

MOST_LISTED = 5
LAST = "last"
ID_HELP = "an id, a prefix of it, or: last"
# The command that lists threads of a kind, and the one that creates them.
LISTS = {None: "threads", "chat": "threads", "run": "runs", "debate": "debates"}
CREATES = {None: "chat", "chat": "chat", "run": "run", "debate": "debate"}


async def find_thread(library: Library, prefix: str, kind: str | None = None, *, archived: bool = False) -> str:
    """Return the id of the thread, of `kind` if given, that starts with `prefix`.

    `last` is the latest thread that is not archived, or with `archived` the latest that is.
    """
    noun = kind or "thread"
    if prefix == LAST:
        latest = await library.latest(1, archived=archived, kind=kind)
        if not latest:
            if archived:
                raise UnknownThread(f"no archived {noun}s")
            raise UnknownThread(f"no {noun}s yet; start one with: antiphon {CREATES[kind]}")
        return latest[0].id
    ids = await library.find(prefix, kind)
    if not ids:
        raise UnknownThread(f"unknown {noun} {prefix!r}; list all with: antiphon {LISTS[kind]} list")
    if len(ids) > 1:
        raise UsageError(f"{prefix!r} matches {len(ids)} {noun}s: {', '.join(ids[:MOST_LISTED])}; type more of the id")
    return ids[0]
