"""Lookup of threads by a prefix of their id, or as `last`."""

from antiphon.cli.frame import UsageError
from antiphon.cli.windows.types import AnyLibrary
from antiphon.threads.errors import UnknownThread, WrongKind

MOST_LISTED = 5
LAST = "last"
ID_HELP = "an id, a prefix of it, or: last"
# The commands that list threads of a kind, continue one and create one.
LISTS = {None: "threads", "chat": "threads", "run": "runs", "debate": "debates"}
CONTINUES = {"chat": "antiphon chat --thread", "run": "antiphon run --resume", "debate": "antiphon debate --resume"}
CREATES = {None: "chat", "chat": "chat", "run": "run", "debate": "debate"}


async def find_thread(library: AnyLibrary, prefix: str, kind: str | None = None, *, archived: bool = False) -> str:
    """Return the id of the thread, of `kind` if given, that starts with `prefix`.

    `last` is the latest thread that is not archived, or with `archived` the latest that is.
    """
    noun = kind or "thread"
    if not prefix:
        raise UsageError(f"the id of the {noun} is empty; list all with: antiphon {LISTS[kind]} list")
    if prefix == LAST:
        latest = await library.latest(1, archived=archived, kind=kind)
        if not latest:
            if archived:
                raise UnknownThread(f"no archived {noun}s")
            raise UnknownThread(f"no {noun}s yet; start one with: antiphon {CREATES[kind]}")
        return latest[0].id
    ids = await library.find(prefix, kind)
    if not ids:
        await _check_other_kinds(library, prefix, noun)
        raise UnknownThread(f"unknown {noun} {prefix!r}; list all with: antiphon {LISTS[kind]} list")
    if len(ids) > 1:
        raise UsageError(f"{prefix!r} matches {len(ids)} {noun}s: {', '.join(ids[:MOST_LISTED])}; type more of the id")
    return ids[0]


async def _check_other_kinds(library: AnyLibrary, prefix: str, noun: str) -> None:
    """Raise `WrongKind`, with the commands for it, if a prefix names one thread, of another kind."""
    matches = await library.find(prefix)
    if len(matches) == 1:
        id = matches[0]
        kind = (await library.read(id)).view.kind or "chat"
        commands = f"show it with: antiphon {LISTS[kind]} show {id}; continue it with: {CONTINUES[kind]} {id}"
        raise WrongKind(id, kind, noun, commands)
