"""Streams of server-sent events that continue by themselves: no event is missed, and none comes twice.

Every event has the place after it as its id. Whatever cuts a stream (a proxy, a server that was killed, the `closing`
of one that stops), the next connection continues after the last id whose event was complete.
"""

from collections.abc import AsyncGenerator, Iterator
from typing import Any, NamedTuple

import httpx2

from antiphon.client.connection import HttpConnection, Params, Pause
from antiphon.client.problems import error_of, read_problem

CLOSING = "closing"
PROBLEM = "problem"
STOPPING = "stopping"


class ServerEvent(NamedTuple):
    """One event of a stream."""

    name: str
    data: str
    id: str


class EventDecoder:
    """Decodes bytes, however they are split, to events; only complete events are returned."""

    __slots__ = ("_data", "_id", "_name", "_pending", "last_id", "retry_ms")

    def __init__(self, last_id: str = "") -> None:
        self.last_id = last_id  # of the last complete event that had one
        self.retry_ms: int | None = None
        self._pending = b""
        self._name = ""
        self._id: str | None = None
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Yield the events that these bytes complete."""
        *lines, self._pending = (self._pending + chunk).split(b"\n")
        for line in lines:
            text = line.decode("utf-8", "replace").removesuffix("\r")
            if text:
                self._read_field(text)
            elif self._data:
                yield self._complete()
            else:
                self._forget()

    def _read_field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "data":
                self._data.append(value)
            case "event":
                self._name = value
            case "id":
                self._id = value
            case "retry" if value.isdecimal():
                self.retry_ms = int(value)

    def _complete(self) -> ServerEvent:
        self.last_id = self.last_id if self._id is None else self._id
        event = ServerEvent(self._name, "\n".join(self._data), self.last_id)
        self._forget()
        return event

    def _forget(self) -> None:
        self._name = ""
        self._id = None
        self._data = []


async def read_events(
    connection: HttpConnection, path: str, params: Params, last_id: str = "", **names: Any
) -> AsyncGenerator[ServerEvent, None]:
    """Iterate over the events of a stream until it has ended; raise the error for a problem.

    `ServerUnreachable` is raised if the server is away for longer than the patience of the connection.
    """
    pause = Pause(connection.patience_s)
    while True:
        decoder = EventDecoder(last_id)
        is_closing = False
        await connection.prepare()
        try:
            async with connection.stream(path, params, last_id, **names) as response:
                async for chunk in response.aiter_raw():
                    for event in decoder.feed(chunk):
                        is_closing = is_closing or _is_closing(event)
                        if event.name == PROBLEM and not is_closing:
                            raise error_of(read_problem(500, event.data.encode()), **names)
                        if not is_closing:
                            last_id = event.id
                            pause.reset()
                            yield event
                    if decoder.retry_ms is not None:
                        pause.longest_s = decoder.retry_ms / 1000
            if not is_closing:
                return
            lost: Exception = httpx2.RemoteProtocolError("the server is stopping")
            pause.extend()
        except httpx2.TransportError as error:
            lost = error
        connection.is_lost = True
        await pause.wait(connection.address, lost)


def _is_closing(event: ServerEvent) -> bool:
    """Return whether the server ends a stream because it stops."""
    if event.name != PROBLEM:
        return event.name == CLOSING
    return bool(read_problem(500, event.data.encode())["code"] == STOPPING)
