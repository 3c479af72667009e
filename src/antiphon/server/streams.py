"""Server-sent events: frames of activities, and a response that ends with its client, its source or the server.

1. Everything comes from the journal: a frame has the cursor after it as its id, so that a client which comes back with
   `Last-Event-ID` misses nothing and gets nothing twice.
2. Nothing is queued for a client. A slow one is read for at its own pace, because a frame is made when the one before
   it was accepted by the connection; one that accepts nothing for a while is cut off (`protocol.py`).
3. A stream changes nothing: when the client goes away, its reader ends, and the thread goes on.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, aclosing, nullcontext, suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from antiphon.runtime.errors import JournalCompacted, OtherHistory
from antiphon.runtime.histories import HistoryIds
from antiphon.runtime.records import Entry
from antiphon.runtime.runtime import Runtime
from antiphon.server.authentication import OPERATOR
from antiphon.server.context import ServerContext
from antiphon.server.contracts import CALLER
from antiphon.server.frames import JOINED_BYTES, activity_frames, frame, join_frames
from antiphon.server.problems import ProblemError, problem_of
from antiphon.threads import ThreadChange, Threads
from antiphon.threads.following import follow_steps

MEDIA_TYPE = "text/event-stream"
END = b"\n\n"  # of a frame
TURN = 8  # parts that a stream sends before others get their turn
HEARTBEAT = b": heartbeat\n\n"
Select = Callable[[AsyncIterator[ThreadChange]], AsyncIterator[ThreadChange]]
CLOSING = b"event: closing\ndata: {}\n\n"


def _all(changes: AsyncIterator[ThreadChange]) -> AsyncIterator[ThreadChange]:
    """Return all changes."""
    return changes


async def follow_thread(
    context: ServerContext, id: str, after: int | str, *, until_idle: bool = False
) -> AsyncIterator[bytes]:
    """Iterate over the frames of a thread after a step or cursor, for ever or until it is idle.

    A reader of another past, or of steps that were removed, is told where it continues by the event `moved`. The event
    `problem` is the last one of a thread that was deleted or quarantined, and `idle` that of one that is idle.
    """
    threads = context.app.threads
    place = after
    while True:
        try:
            async for part in _idle_frames(threads, id, place) if until_idle else _frames(context, id, place):
                yield part
            return
        except OtherHistory as error:
            place = error.resume
            yield _moved(id, place, error, "other_history")
        except JournalCompacted as error:
            place = await threads.runtime.cursor(id, error.first - 1)
            yield _moved(id, place, error, "journal_compacted")
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            yield frame(problem.to_json(), event="problem")
            return


async def _frames(context: ServerContext, id: str, after: int | str) -> AsyncIterator[bytes]:
    with context.frames.reader(id) as encode_step:
        async with aclosing(follow_steps(context.app.runtime, id, after)) as pages:
            async for steps in pages:
                for part in join_frames(map(encode_step, steps)):
                    yield part


async def _idle_frames(threads: Threads, id: str, after: int | str) -> AsyncIterator[bytes]:
    idle = threads.until_idle(id, after)
    async for activity in idle:
        yield activity_frames([activity])
    yield frame({"thread": id, "status": idle.status}, event="idle")


async def follow_tree(runtime: Runtime, root: str, after: int | str) -> AsyncIterator[bytes]:
    """Iterate over the frames of the journal of a tree after a step or cursor, until it has ended.

    A reader of another past, or of steps that were removed, is told where it continues by the event `moved`. The last
    event is `ended`, or `problem` if the tree was deleted or quarantined.
    """
    place = after
    while True:
        ids = HistoryIds((await runtime.store.history(root))[0])
        try:
            async for entry in runtime.feed(root, place):
                yield frame(entry_row(entry), ids.cursor(entry.seq))
            yield frame({"id": root}, event="ended")
            return
        except OtherHistory as error:
            place = error.resume
            yield _moved(root, place, error, "other_history")
        except JournalCompacted as error:
            place = await runtime.cursor(root, error.first - 1)
            yield _moved(root, place, error, "journal_compacted")
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            yield frame(problem.to_json(), event="problem")
            return


def entry_row(entry: Entry) -> dict[str, Any]:
    """Return a step of a journal as JSON."""
    return {
        "seq": entry.seq,
        "at": entry.at,
        "to": entry.to,
        "event": entry.event,
        "letter": entry.letter,
        "value": entry.value,
        "status": entry.status,
        "emitted": list(entry.emitted),
    }


def _moved(thread: str, cursor: str, error: Exception, code: str) -> bytes:
    return frame({"thread": thread, "cursor": cursor, "code": code, "reason": str(error)}, cursor, "moved")


class Places:
    """The cursors of a reader of several threads, and their text, which is the id of its frames.

    The text names the threads that were read since the request was made: `thread@cursor,thread@cursor`.
    """

    def __init__(self, cursors: Mapping[str, int | str]) -> None:
        self._cursors = cursors
        self._read: dict[str, str] = {}

    def move(self, thread: str, cursor: str) -> None:
        """Note the place after the last frame of a thread."""
        if thread in self._cursors:
            self._read[thread] = cursor

    def forget(self, thread: str) -> None:
        """Forget a thread that was deleted: another one of its id begins anew."""
        self._read.pop(thread, None)

    def __str__(self) -> str:
        return ",".join(f"{thread}@{cursor}" for thread, cursor in self._read.items())


def parse_places(text: str) -> dict[str, str]:
    """Return the cursors by thread in the id of a frame or in the parameter `threads`; a thread alone is read whole."""
    places: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        thread, _, cursor = part.partition("@")
        if not thread:
            raise ProblemError("bad_cursor", f"{part[:80]!r} names no thread; use thread or thread@cursor")
        places[thread] = cursor
    return places


async def follow_many(
    threads: Threads, cursors: Mapping[str, int | str], read: Mapping[str, str], select: Select = _all
) -> AsyncIterator[bytes]:
    """Iterate over the frames of several threads, each after its cursor, and of changes in the list of threads.

    `select` leaves out the changes that the reader may not see.
    """
    places = Places(cursors)
    for thread, cursor in read.items():
        places.move(thread, cursor)
    changes = threads.follow_all({**cursors, **{thread: read[thread] for thread in read if thread in cursors}})
    async for change in select(changes):
        if change.kind == "removed":
            places.forget(change.thread)
        elif change.cursor:
            places.move(change.thread, change.cursor)
        yield frame(change.to_json(), str(places), _event_name(change))


def _event_name(change: ThreadChange) -> str | None:
    """Return the name of the event of a change; activities are messages."""
    return None if change.kind == "activity" else change.kind


class EventStream(Response):
    """Response that sends frames until its source ends, its client goes away, or the server stops."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        context: ServerContext,
        frames: AsyncIterator[bytes],
        *,
        opening: bytes | None = None,
        closing: bytes = CLOSING,
        headers: Mapping[str, str] | None = None,
        counting: AbstractContextManager[None] | None = None,
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no", **(headers or {})})
        del self.headers["content-length"]
        self._context = context
        self._frames = frames
        self._opening = f"retry: {context.settings.retry_ms}\n\n".encode() if opening is None else opening
        self._closing = closing  # sent if the server stops
        self._counting = counting or nullcontext()  # entered as long as it is open
        self._is_quiet = True  # nothing was sent since the last heartbeat was due

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the frames."""
        metrics = self._context.metrics
        with self._context.limits.stream(scope.get(CALLER, OPERATOR)), self._counting:
            metrics.streams += 1
            try:
                await self._stream(receive, send)
            finally:
                metrics.streams -= 1

    async def _stream(self, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if self._opening:
            await self._send(send, self._opening)
        pump = asyncio.create_task(self._pump(send))
        others = [
            asyncio.create_task(wait_for_disconnect(receive)),
            asyncio.create_task(self._context.closing.wait()),
            asyncio.create_task(self._beat(send)),
        ]
        try:
            await asyncio.wait([pump, *others[:2]], return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancel([pump, *others])
        if others[0].cancelled():  # the client is there
            if self._context.closing.is_set():
                await self._send(send, self._closing)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        if pump.done() and not pump.cancelled() and pump.exception() is not None:
            raise pump.exception() or AssertionError

    async def _pump(self, send: Send) -> None:
        number = 0
        async for part in self._frames:
            await self._send(send, part)
            number += 1
            if (
                number % TURN == 0 or len(part) >= JOINED_BYTES
            ):  # a long journal is sent without a pause otherwise, also to a client that is gone
                await asyncio.sleep(0)

    async def _send(self, send: Send, part: bytes) -> None:
        self._is_quiet = False
        self._context.metrics.frames += part.count(END)
        await send({"type": "http.response.body", "body": part, "more_body": True})

    async def _beat(self, send: Send) -> None:
        """Send a comment whenever nothing else was sent for a while, so that proxies keep the connection."""
        while True:
            self._is_quiet = True
            await asyncio.sleep(self._context.settings.heartbeat_s)
            if self._is_quiet:
                self._context.metrics.heartbeats += 1
                await self._send(send, HEARTBEAT)


async def wait_for_disconnect(receive: Receive) -> None:
    """Wait until the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _cancel(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError, Exception):
            await task
