"""Following threads of a server: steps, activities until a thread is idle, and many threads at once."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping
from contextlib import aclosing
from typing import Any

from antiphon.client.connection import HttpConnection, thread_path
from antiphon.client.feed import ServerEvent, read_events
from antiphon.client.problems import error_of
from antiphon.client.values import activity_from_json, change_from_json
from antiphon.runtime.errors import Quarantined
from antiphon.runtime.histories import parse_cursor
from antiphon.threads.activity import Activity
from antiphon.threads.errors import Refused
from antiphon.threads.following import ThreadChange

IDLE = "idle"
MOVED = "moved"
LONGEST_PLACES = 16_000
RELEASE_S = 1.0  # between two looks at a quarantined thread


async def follow_steps(
    connection: HttpConnection, id: str, after: int | str, *, wait_for_release: bool = False
) -> AsyncGenerator[list[Activity], None]:
    """Iterate over the activities of each step after a step or cursor, until the thread has ended."""
    step: list[Activity] = []
    place = after
    while True:
        try:
            async with aclosing(_read(connection, id, place, {})) as events:
                async for event in events:
                    activity = activity_from_json(json.loads(event.data))
                    place = activity.cursor
                    step.append(activity)
                    # The cursor of the last activity of a step is that of the step.
                    if parse_cursor(activity.cursor).position is None:
                        yield step
                        step = []
            return
        except Quarantined:
            if not wait_for_release:
                raise
            await asyncio.sleep(RELEASE_S)


async def _read(
    connection: HttpConnection, id: str, after: int | str, params: Mapping[str, str]
) -> AsyncGenerator[ServerEvent, None]:
    """Iterate over the events of a thread; raise `OtherHistory` or `JournalCompacted` if its reader was moved."""
    place = str(after or "")
    query = {**params, **({"after": place} if place else {})}
    async with aclosing(read_events(connection, thread_path(id, "events"), query, thread=id, cursor=place)) as events:
        async for event in events:
            if event.name == MOVED:
                raise _moved(id, place, json.loads(event.data))
            yield event


def _moved(id: str, cursor: str, facts: Mapping[str, Any]) -> Exception:
    name = "JournalCompacted" if facts["code"] == "journal_compacted" else "OtherHistory"
    first = parse_cursor(facts["cursor"]).seq + 1
    place = {"first": first} if name == "JournalCompacted" else {"resume": facts["cursor"]}
    return error_of(
        {"code": facts["code"], "detail": facts["reason"], "error": name, **place}, thread=id, cursor=cursor
    )


class ClientUntilIdle:
    """The activities of a thread until it is idle; awaited, its status then."""

    def __init__(self, connection: HttpConnection, id: str, after: int | str) -> None:
        self._connection = connection
        self._id = id
        self._after = after
        self.status: str | None = None  # of the thread, once all activities were read

    def __await__(self) -> Generator[Any, None, str]:
        return self._wait().__await__()

    async def _wait(self) -> str:
        path = thread_path(self._id)
        if isinstance(self._after, str) and self._after:
            params: dict[str, str | int] = {"after": self._after, "limit": 1}
            await self._connection.get(f"{path}/events", params, thread=self._id, cursor=self._after)
        page = await self._connection.get(path, {"content": "false"}, thread=self._id)
        async for _ in self._activities(page["cursor"]):
            pass
        return self.status or ""

    async def __aiter__(self) -> AsyncIterator[Activity]:
        async with aclosing(self._activities(self._after)) as activities:
            async for activity in activities:
                yield activity

    async def _activities(self, after: int | str) -> AsyncGenerator[Activity, None]:
        async with aclosing(_read(self._connection, self._id, after, {"until": IDLE})) as events:
            async for event in events:
                if event.name == IDLE:
                    self.status = json.loads(event.data)["status"]
                    return
                yield activity_from_json(json.loads(event.data))


async def follow_changes(
    connection: HttpConnection, cursors: Mapping[str, int | str]
) -> AsyncGenerator[ThreadChange, None]:
    """Iterate over the activities of some threads, each after its step or cursor, and over changes of the list."""
    places = ",".join(f"{id}@{cursor}" if cursor else id for id, cursor in cursors.items())
    if len(places) > LONGEST_PLACES:
        raise Refused(f"{len(cursors)} threads are too many to follow at once; follow fewer")
    async with aclosing(read_events(connection, "/events", {"threads": places} if places else {})) as events:
        async for event in events:
            yield change_from_json(json.loads(event.data))
