"""Lookup of threads by a prefix of their id, or as `last`; their lines in lists, and commands that continue them."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar, cast

from antiphon.cli.frame import UsageError
from antiphon.cli.options import LAST
from antiphon.cli.windows.types import AnyLibrary
from antiphon.threads.errors import UnknownThread, WrongKind
from antiphon.threads.kinds import ThreadView
from antiphon.threads.library import INTERRUPTED

MOST_LISTED = 5
SHORT = 8  # characters of an id that tell it apart from others
# The commands that list threads of a kind, continue one and create one.
LISTS = {None: "threads", "chat": "threads", "run": "runs", "debate": "debates"}
CONTINUES = {"chat": "antiphon chat --thread", "run": "antiphon run --resume", "debate": "antiphon debate --resume"}
# Statuses of threads in whose process something runs, or a person is waited for, and those that were lost with it.
CURRENT = ("running", "waiting")
UNFINISHED = (*CURRENT, INTERRUPTED)
PAUSED = ("debate", "stopped")
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


async def latest_with(library: AnyLibrary, statuses: tuple[str, ...], limit: int = 1) -> list[ThreadView]:
    """Return the latest threads of some statuses, the most recently used first."""
    views = [view for status in statuses for view in await library.latest(limit, status=status)]
    return sorted(views, key=lambda view: view.updated, reverse=True)[:limit]


def settle(views: list[ThreadView], library: AnyLibrary) -> list[ThreadView]:
    """Return threads for a list: without a process, one that waits for a permission is interrupted, and asks again."""
    lost = ("waiting", "permission") if library.is_unowned else None
    return [replace(view, status=INTERRUPTED) if (view.status, view.waiting) == lost else view for view in views]


def status_text(view: ThreadView) -> str:
    """Return the status of a thread for a list, with what it waits for, or waited for when its process was lost."""
    if (view.kind, view.status) == PAUSED:
        return "paused"
    return f"{view.status} ({view.waiting.replace('_', ' ')})" if view.waiting else view.status


async def short_id(library: AnyLibrary, id: str) -> str:
    """Return the start of an id, which commands take in its place, if no other id starts so."""
    start = id[:SHORT]
    return start if start == id or await library.find(start) == [id] else id


async def short_ids(library: AnyLibrary, ids: Iterable[str]) -> dict[str, str]:
    """Return the short form of each of these ids."""
    listed = list(ids)
    return dict(zip(listed, await asyncio.gather(*(short_id(library, id) for id in listed)), strict=True))


async def with_short_ids(library: AnyLibrary, views: "Sequence[Listed]") -> "list[Listed]":
    """Return threads for the lines of a list, with the short forms of their ids."""
    ids = await short_ids(library, (view.id for view in views))
    return [replace(cast(Any, view), id=ids[view.id]) for view in views]


class ListedThread(Protocol):
    """A thread as lists of all kinds know it; a dataclass."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def kind(self) -> str:
        """Its kind."""
        ...

    @property
    def status(self) -> str:
        """Its status."""
        ...

    @property
    def cursor(self) -> str:
        """Its place in a list."""
        ...

    @property
    def problem(self) -> str | None:
        """The reason why it cannot be continued here."""
        ...


Listed = TypeVar("Listed", bound=ListedThread)


def next_command(view: ListedThread, *, is_unowned: bool) -> str | None:
    """Return the command that continues an unfinished thread; `is_unowned` says that no process has its store."""
    if view.problem is not None:
        return None
    if view.status in CURRENT and not is_unowned:
        return f"antiphon attach {view.id}"
    if view.status in UNFINISHED or (view.kind, view.status) == PAUSED:
        return f"antiphon resume {view.id}"
    return None


async def _check_other_kinds(library: AnyLibrary, prefix: str, noun: str) -> None:
    """Raise `WrongKind`, with the commands for it, if a prefix names one thread, of another kind."""
    matches = await library.find(prefix)
    if len(matches) == 1:
        id = matches[0]
        kind = (await library.read(id)).view.kind or "chat"
        commands = f"show it with: antiphon {LISTS[kind]} show {id}; continue it with: {CONTINUES[kind]} {id}"
        raise WrongKind(id, kind, noun, commands)
