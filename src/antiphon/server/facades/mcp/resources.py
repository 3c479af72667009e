"""Threads as resources: `antiphon://threads/ID` is the thread as Markdown."""

from datetime import UTC, datetime
from typing import NamedTuple

from antiphon.server.facades.mcp.calls import McpCall
from antiphon.threads import ThreadView, UnknownThread

PREFIX = "antiphon://threads/"
TEMPLATE = PREFIX + "{id}"
MEDIA_TYPE = "text/markdown"
PAGE = 50


class ThreadResource(NamedTuple):
    """A thread in a list of resources."""

    uri: str
    name: str
    title: str
    description: str
    modified: str


async def list_resources(call: McpCall, after: str | None) -> tuple[list[ThreadResource], str | None]:
    """Return a page of threads, the latest changed first, and the cursor of the next page."""
    owner = None if call.caller.is_operator else call.caller.user
    views = await call.context.app.library.latest(PAGE, owner=owner, after=after)
    return [_resource(view) for view in views], views[-1].cursor if len(views) == PAGE else None


def _resource(view: ThreadView) -> ThreadResource:
    modified = datetime.fromtimestamp(view.updated / 1000, UTC).isoformat(timespec="seconds")
    description = f"{view.kind}, {view.status}" + (f", {view.model}" if view.model else "")
    return ThreadResource(PREFIX + view.id, view.id, view.title, description, modified)


async def read_resource(call: McpCall, uri: str) -> str:
    """Return a thread as Markdown; raise `UnknownThread` for an address that is none."""
    id = uri.removeprefix(PREFIX)
    if id == uri or not id:
        raise UnknownThread(f"{uri[:200]!r} is no thread; use {TEMPLATE}")
    await call.check(id)
    return await call.threads.export(id)
