"""Threads as clients open them: a record, the events that it takes, and the cursor to follow it from."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from antiphon.runtime.doors import Doors
from antiphon.runtime.errors import LoadFailed, Quarantined, UnknownMachine
from antiphon.threads.consent import StandingPermission, standing_permissions
from antiphon.threads.kinds import Json, Record, ThreadView
from antiphon.threads.library import Library
from antiphon.threads.replies import open_replies
from antiphon.threads.requests import OpenRequest, open_requests

ATTEMPTS = 20  # a thread may take a step while it is read
UNREADABLE = (Quarantined, LoadFailed, UnknownMachine)


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """A thread with its content, its open requests, and the events that it takes now, by the address of the actor.

    The page shows the thread as it was at `cursor`: following it from there, nothing is missing and nothing repeated.
    """

    view: ThreadView
    content: Json
    cursor: str
    requests: tuple[OpenRequest, ...]
    can: Mapping[str, tuple[str, ...]]
    is_transcript: bool = False
    replies: tuple[Json, ...] = ()  # those in progress, with their words so far
    permissions: tuple[StandingPermission, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the page as JSON."""
        return {
            **view_to_json(self.view),
            "cursor": self.cursor,
            "requests": [request.to_json() for request in self.requests],
            "permissions": [permission.to_json() for permission in self.permissions],
            "can": {address: list(events) for address, events in self.can.items()},
            "replies": [dict(reply) for reply in self.replies],
            "transcript": self.is_transcript,
            "content": self.content,
        }


def view_to_json(view: ThreadView) -> dict[str, Any]:
    """Return a thread of a list as JSON."""
    facts = asdict(view)
    cost_usd = facts.pop("cost_usd")
    return {**facts, "costUsd": cost_usd, "listCursor": view.cursor}


async def read_page(runtime: Doors, library: Library, id: str) -> ThreadPage:
    """Read a thread, its cursor, its requests and what it takes, all at one step if its steps leave the time."""
    for _ in range(ATTEMPTS):
        before = await runtime.cursor(id)
        record = await library.read(id)
        work = await _open_work(runtime, library, id, record)
        if await runtime.cursor(id) == before:
            break
    return ThreadPage(record.view, record.content, before, is_transcript=record.is_transcript, **work)


class PageWork(TypedDict):
    """What a thread waits for, takes, works on and allows."""

    requests: tuple[OpenRequest, ...]
    can: Mapping[str, tuple[str, ...]]
    replies: tuple[Json, ...]
    permissions: tuple[StandingPermission, ...]


NO_WORK: PageWork = {"requests": (), "can": {}, "replies": (), "permissions": ()}


async def _open_work(runtime: Doors, library: Library, id: str, record: Record) -> PageWork:
    """Return the open requests of a thread, the events that it takes, its replies in progress and its permissions."""
    if record.is_transcript or record.view.problem is not None:
        return NO_WORK
    kind = record.view.kind
    try:
        snapshot = await runtime.snapshot(id)
        return {
            "requests": tuple(open_requests(snapshot)),
            "can": await acceptable(runtime, id, kind),
            "replies": tuple(open_replies(snapshot)),
            "permissions": tuple(standing_permissions(library.kinds[kind].decisions(snapshot)) if kind else ()),
        }
    except UNREADABLE:  # since the record was read
        return NO_WORK


SPENDING: Mapping[str, tuple[str, ...]] = {
    "chat": ("metrics", "budget"),
    "run": ("usage", "iterations", "limits"),
    "debate": ("costTracker", "tokenUsage", "statistics"),
}


def usage_of(record: Record) -> dict[str, Any]:
    """Return the cost of a thread in USD, and the figures that its kind keeps about tokens, costs and limits."""
    keys = SPENDING.get(record.view.kind, ())
    figures = {key: record.content[key] for key in keys if key in record.content}
    return {"kind": record.view.kind, "costUsd": record.view.cost_usd, "figures": figures}


async def acceptable(runtime: Doors, id: str, kind: str | None) -> dict[str, tuple[str, ...]]:
    """Return the events that a thread and its content take now, by the address of the actor."""
    addresses = [""] if not kind else ["", kind]
    events = {address: await runtime.can(id, address) for address in addresses}
    return {address: names for address, names in events.items() if names}
