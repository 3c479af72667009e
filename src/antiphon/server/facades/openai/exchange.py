"""The exchange of one request: a turn of a thread, answered as a stream or as one object."""

from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from antiphon.runtime.encoding import encode
from antiphon.server.callers import note_thread
from antiphon.server.context import ServerContext
from antiphon.server.contracts import JSON, json_response
from antiphon.server.facades.openai.errors import error_body
from antiphon.server.facades.openai.turns import ThreadTurn, TurnEnd, TurnEvent, TurnFailure, TurnText, TurnThought
from antiphon.server.facades.openai.waiting import STOPPING, ClientGone, wait_for
from antiphon.server.problems import ProblemError
from antiphon.server.streams import MEDIA_TYPE, EventStream

MEDIA_TYPES = (JSON, MEDIA_TYPE)
THREAD_HEADER = "x-antiphon-thread"
CLIENT_GONE = 499


class Writer(Protocol):
    """Writes the frames of a reply."""

    def begin(self) -> bytes:
        """Return the first frames."""
        ...

    def write(self, event: TurnEvent) -> bytes:
        """Return the frames of a part of the reply."""
        ...


class CollectedReply(NamedTuple):
    """A whole reply."""

    text: str
    thought: str
    end: TurnEnd


class Exchange:
    """One request and the turn that answers it; `on_end` is called with a reply that did not fail."""

    def __init__(
        self, context: ServerContext, request: Request, turn: ThreadTurn, on_end: Callable[[CollectedReply], None]
    ) -> None:
        self._context = context
        self._request = request
        self._turn = turn
        self._on_end = on_end
        note_thread(request, turn.thread)
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._events = self._follow()

    async def _follow(self) -> AsyncIterator[TurnEvent]:
        async for event in self._turn.events():
            match event:
                case TurnText(text):
                    self._texts.append(text)
                case TurnThought(text):
                    self._thoughts.append(text)
                case TurnEnd():
                    self._on_end(self._collected(event))
                case TurnFailure():
                    pass
            yield event

    def _collected(self, end: TurnEnd) -> CollectedReply:
        return CollectedReply("".join(self._texts), "".join(self._thoughts), end)

    async def answer(self, make: Callable[[CollectedReply], Any]) -> Response:
        """Return the response with the whole reply; a failure is an error."""
        try:
            reply = await wait_for(self._context, self._request, self._collect())
        except ClientGone:
            return Response(status_code=CLIENT_GONE)
        finally:
            await self._turn.close()
        return json_response(make(reply), headers={THREAD_HEADER: self._turn.thread})

    async def _collect(self) -> CollectedReply:
        async for event in self._events:
            if isinstance(event, TurnFailure):
                raise event.problem
            if isinstance(event, TurnEnd):
                return self._collected(event)
        raise ProblemError("internal", "the thread has ended without a reply")

    async def stream(self, writer: Writer) -> Response:
        """Return the response that streams the reply; a failure before its first part is an error with its status."""
        is_begun = False
        try:
            first = await wait_for(self._context, self._request, self._first())
            if isinstance(first, TurnFailure):
                raise first.problem
            is_begun = True
        except ClientGone:
            return Response(status_code=CLIENT_GONE)
        finally:
            if not is_begun:
                await self._turn.close()
        return _TurnStream(self._context, self._turn, self._frames(writer, first))

    async def _first(self) -> TurnEvent:
        return await anext(self._events)

    async def _frames(self, writer: Writer, first: TurnEvent) -> AsyncIterator[bytes]:
        yield writer.begin() + writer.write(first)
        async for event in self._events:
            yield writer.write(event)


class _TurnStream(EventStream):
    """A stream that stops its turn if the client goes away."""

    def __init__(self, context: ServerContext, turn: ThreadTurn, frames: AsyncIterator[bytes]) -> None:
        error = error_body(ProblemError("stopping", STOPPING))
        closing = f"event: error\ndata: {encode(error)}\n\n".encode()
        super().__init__(context, frames, opening=b"", closing=closing, headers={THREAD_HEADER: turn.thread})
        self._turn = turn

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the frames, and close the turn."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._turn.close()
