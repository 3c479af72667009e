"""The fake server, with hand-written HTTP so that it can violate the protocol."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from antiphon.testing.fake_llm.encoders import ENCODERS
from antiphon.testing.fake_llm.playback import ClientConnection, ClientDisconnected, play_scenario
from antiphon.testing.fake_llm.rules import request_problems
from antiphon.testing.fake_llm.scenarios import scenario_of

KEY_HEADERS = {"authorization", "x-api-key", "x-goog-api-key"}
PATHS = {"openai": "/v1", "mistral": "/v1", "compatible": "/v1"}
LARGEST_BODY = 64 * 1024 * 1024
# Allows thousands of clients to connect at once.
BACKLOG = 4096


@dataclass(slots=True)
class ReceivedRequest:
    """Request as received, without its key, and how it ended."""

    format: str
    scenario: str
    model: str
    path: str
    headers: Mapping[str, str]
    key_header: str | None
    body: Mapping[str, Any]
    deltas: int = 0
    ended: str | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    waiting: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    def to_json(self) -> dict[str, Any]:
        """Convert the request to JSON, for other processes."""
        hidden = ("over", "waiting")
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in hidden}


class FakeLLM:
    """Server on the loopback interface, running inside `async with`."""

    def __init__(self, port: int = 0, *, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[ReceivedRequest] = []
        self._tls = tls
        self._port = port
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self._port, limit=LARGEST_BODY, backlog=BACKLOG, ssl=self._tls
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def connections(self) -> int:
        """Number of open connections."""
        return len(self._serving)

    def base_url(self, format: str) -> str:
        """Return the base URL of a format."""
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://127.0.0.1:{self._port}/{format}{PATHS.get(format, '')}"

    async def serve_forever(self) -> None:
        """Serve until cancelled."""
        assert self._server is not None
        await self._server.serve_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "a connection is served by a task"
        self._serving.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, ClientDisconnected, asyncio.CancelledError):
            # The client has disconnected, or the server is closing.
            pass
        finally:
            self._serving.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        connection = ClientConnection(reader, writer)
        if method == "GET":
            await connection.respond(
                200, [received.to_json() for received in self.requests] if path == "/__seen" else {"fake": True}
            )
            return True
        received = _receive(path, headers, json.loads(raw or b"{}"))
        if received is None:
            await connection.respond(404, {"error": {"message": f"nothing is served at {path}"}})
            return True
        self.requests.append(received)
        try:
            return await self._reply(received, connection)
        except (ConnectionError, ClientDisconnected):
            received.ended = "client closed"
            raise
        finally:
            received.over.set()

    async def _reply(self, received: ReceivedRequest, connection: ClientConnection) -> bool:
        scenario = scenario_of(received.model)[1]
        encoder = ENCODERS[received.format](received.model, received.body)
        problems = request_problems(received.format, received.model, received.body)
        status = scenario.status
        message = scenario.about
        if received.key_header is None and received.format != "compatible":
            status = 401
            message = "no key"
        elif problems and status == 200:
            status = 400
            message = "; ".join(problems)
        if status != 200:
            received.ended = f"status {status}"
            delay = {"retry-after": str(scenario.retry_after_s)} if scenario.retry_after_s is not None else {}
            await connection.respond(status, encoder.failure(status, message), delay | {"location": "/elsewhere"})
            return True
        received.ended = await play_scenario(scenario, encoder, connection, received)
        return received.ended == "complete"


def _receive(path: str, headers: dict[str, str], body: dict[str, Any]) -> ReceivedRequest | None:
    format = path.split("/", 2)[1]
    if format not in ENCODERS:
        return None
    model = body.get("model") or path.partition("/models/")[2].partition(":")[0]
    key_header = next((name for name in headers if name in KEY_HEADERS), None)
    public_headers = {name: value for name, value in headers.items() if name not in KEY_HEADERS}
    return ReceivedRequest(format, scenario_of(model)[0], model, path, public_headers, key_header, body)
