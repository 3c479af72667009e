"""Routes of streams: the activities of one thread, or of many with the list of threads, as SSE or as JSON."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Annotated, Literal

from starlette.responses import Response

from antiphon.server.callers import RequestCaller, own_changes, select_own
from antiphon.server.context import Context, ServerContext
from antiphon.server.contracts import JSON, Routes, json_response
from antiphon.server.parameters import Query
from antiphon.server.problems import ProblemError
from antiphon.server.replies import ActivityList
from antiphon.server.requests import Accept, LastEventId, Limit, ThreadId, check_cursor, choose_media_type
from antiphon.server.streams import MEDIA_TYPE, EventStream, follow_many, follow_thread, parse_places
from antiphon.server.windows.keys import WINDOW

routes = Routes("streams")


@routes.add(
    "GET",
    "/threads/{id}/events",
    "Follow a thread, or read a page of its activities",
    gives=ActivityList,
    media_types=(MEDIA_TYPE, JSON),
)
async def follow_events(
    context: Context,
    id: ThreadId,
    after: Annotated[str, Query(max_length=300, description="a cursor, or a step; the beginning without it")] = "",
    limit: Limit = 500,
    words: Annotated[bool, Query(description="whether a page has the words of models: text and thinking")] = True,
    until: Annotated[Literal["idle"] | None, Query(description="end when the thread has nothing left to do")] = None,
    accept: Accept = "*/*",
    last_event_id: LastEventId = "",
) -> Response:
    """As `text/event-stream`, the activities after the cursor and then new ones; as JSON, a page of those there are.

    `Last-Event-ID` wins over `after`: a browser sends it when it connects again.
    """
    place = check_cursor(last_event_id or after)
    if choose_media_type(accept, JSON, MEDIA_TYPE) == JSON:
        return json_response((await context.app.threads.activities(id, place, limit, words=words)).to_json())
    await context.app.threads.cursor(id)
    frames = follow_thread(context, id, place, until_idle=until == "idle")
    return EventStream(context, frames, counting=_count(context, [id]))


@routes.add(
    "GET", "/events", "Follow many threads, and the list of threads, on one connection", media_types=(MEDIA_TYPE,)
)
async def follow_all_events(
    context: Context,
    caller: RequestCaller,
    threads: Annotated[str, Query(max_length=16_000, description="`id` or `id@cursor`, joined by commas")] = "",
    accept: Accept = MEDIA_TYPE,
    last_event_id: LastEventId = "",
) -> Response:
    """Activities of the named threads, and changes of all: `created`, `changed`, `ended`, `quarantined`, `removed`.

    The first event is `behind`: the list of threads is to be read. `moved` says that a thread continues from another
    cursor. The id of an event has the cursors of all threads that were read, for `Last-Event-ID`.
    """
    choose_media_type(accept, MEDIA_TYPE)
    cursors = {thread: check_cursor(cursor) for thread, cursor in parse_places(threads).items()}
    most = context.settings.most_followed
    if len(cursors) > most:
        raise ProblemError("bad_query", f"{len(cursors)} threads are named; at most {most} are followed at once")
    read = {thread: str(check_cursor(cursor)) for thread, cursor in parse_places(last_event_id).items()}
    if caller.is_operator:
        frames = follow_many(context.app.threads, cursors, read)
        return EventStream(context, frames, counting=_count(context, cursors))
    own = await select_own(context, caller, cursors)
    missing = [thread for thread in cursors if thread not in own]
    return EventStream(
        context,
        follow_many(
            context.app.threads,
            {thread: cursors[thread] for thread in own},
            read,
            lambda changes: own_changes(context, caller, changes, missing),
        ),
        counting=_count(context, own),
    )


def _count(context: ServerContext, threads: Iterable[str]) -> AbstractContextManager[None] | None:
    """Return a block in which the client counts as one that shows some threads."""
    return None if context.local is None else context.local.presence.follow(threads, WINDOW.get())
