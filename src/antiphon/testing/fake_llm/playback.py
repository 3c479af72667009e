"""Play a scenario to one client."""

import asyncio
import json
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from antiphon.testing.fake_llm.encoder import Encoder
from antiphon.testing.fake_llm.scenarios import ARGUMENTS, LONG_LINE, Scenario
from antiphon.testing.fake_llm.values import next_offered_call, schema_in, value_for

POLL_S = 0.005
PAGE = b"<!doctype html><title>Sign in</title><p>Please sign in to the network.</p>"


class ClientDisconnected(Exception):
    """Raised when the client has closed the connection."""


class RequestProgress(Protocol):
    """Progress of a request, updated while its scenario is played."""

    body: Mapping[str, Any]
    deltas: int
    waiting: asyncio.Event


class ClientConnection:
    """Connection to a client, with the faults of a misbehaving server."""

    __slots__ = ("_reader", "_writer")

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def respond(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        """Send a complete response in JSON."""
        body = json.dumps(value).encode()
        await self._head(
            status, {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
        )
        await self._write(body)

    async def open(self, content_type: str = "text/event-stream; charset=utf-8") -> None:
        """Send the head of a stream."""
        await self._head(200, {"content-type": content_type, "transfer-encoding": "chunked"})

    async def send(self, data: bytes) -> None:
        """Send a chunk of the body."""
        if data:
            await self._write(b"%x\r\n%b\r\n" % (len(data), data))

    async def close_body(self) -> None:
        """Send the end of the body."""
        await self._write(b"0\r\n\r\n")

    def drop(self) -> None:
        """Close the connection in the middle of the body."""
        self._writer.close()

    def reset(self) -> None:
        """End the connection with RST."""
        connection: socket.socket = self._writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def wait_until_client_disconnects(self) -> None:
        """Wait until the client disconnects, and raise `ClientDisconnected`."""
        while not self._reader.at_eof():
            await asyncio.sleep(POLL_S)
        raise ClientDisconnected

    async def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [
            f"HTTP/1.1 {status} Fake",
            "request-id: req_1",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        await self._write("\r\n".join([*lines, "", ""]).encode())

    async def _write(self, data: bytes) -> None:
        if self._reader.at_eof():
            raise ClientDisconnected
        self._writer.write(data)
        await self._writer.drain()


async def play_scenario(
    scenario: Scenario, encoder: Encoder, connection: ClientConnection, record: RequestProgress
) -> str:
    """Play a scenario; return how it ended."""
    offered = next_offered_call(record.body) if scenario.calls_offered else None
    if offered is not None:
        scenario = replace(scenario, words=(), ending="tool_calls")
    if scenario.silent:
        record.waiting.set()
        await connection.wait_until_client_disconnects()
    if scenario.fault == "html":
        await connection.open("text/html")
        await connection.send(PAGE)
        await connection.close_body()
        return "complete"
    await connection.open()
    if scenario.pings:
        await _ping_forever(encoder, connection, record)
    for data in before_words(scenario, encoder):
        await _send(data, scenario, connection)
    await _send_text(scenario, encoder, connection, record)
    if scenario.fault is not None:
        return await _fail(scenario, encoder, connection, record)
    for data in after_words(scenario, encoder, offered):
        await _send(data, scenario, connection)
    if scenario.lingers:
        await connection.wait_until_client_disconnects()
    await connection.close_body()
    return "closed" if scenario.closes else "complete"


async def _ping_forever(encoder: Encoder, connection: ClientConnection, record: RequestProgress) -> None:
    while True:
        await connection.send(encoder.ping())
        record.waiting.set()
        await asyncio.sleep(POLL_S)


async def _send_text(
    scenario: Scenario, encoder: Encoder, connection: ClientConnection, record: RequestProgress
) -> None:
    for _ in range(scenario.repeat):
        for text in _words(scenario, record.body):
            await _send(b"".join(encoder.words(text)), scenario, connection)
            record.deltas += 1
            if scenario.pause_ms:
                await asyncio.sleep(scenario.pause_ms / 1000)


async def _send(data: bytes, scenario: Scenario, connection: ClientConnection) -> None:
    for piece in (data[i : i + 1] for i in range(len(data))) if scenario.split else (data,):
        await connection.send(piece)


async def _fail(scenario: Scenario, encoder: Encoder, connection: ClientConnection, record: RequestProgress) -> str:
    match scenario.fault:
        case "drop":
            connection.drop()
            return "dropped"
        case "reset":
            # A reset drops data in transit; the client should receive the text first.
            await asyncio.sleep(10 * POLL_S)
            connection.reset()
            return "reset"
        case "stall":
            record.waiting.set()
            await connection.wait_until_client_disconnects()
        case "overload":
            await connection.send(encoder.overload())
        case "refusal":
            await connection.send(b"".join(encoder.refusal()))
        case "garbage":
            await connection.send(b'data: {"type": "content_blo\n\n')
        case "long line":
            await connection.send(b"data: ")
            for _ in range(LONG_LINE // 65536):
                await connection.send(b"x" * 65536)
            await connection.send(b"\n\n")
    await connection.close_body()
    return f"fault: {scenario.fault}"


def before_words(scenario: Scenario, encoder: Encoder) -> Iterator[bytes]:
    """Yield the frames before the text."""
    yield from encoder.begin()
    if scenario.unknown_events:
        yield encoder.unknown()
    if scenario.thoughts:
        yield from encoder.thoughts(scenario.thoughts)


def after_words(scenario: Scenario, encoder: Encoder, offered: tuple[str, str, str] | None = None) -> Iterator[bytes]:
    """Yield the frames that complete the reply."""
    if scenario.unknown_events:
        yield encoder.unknown()
    if offered is not None:
        id, name, arguments = offered
        yield from encoder.call(id, (arguments,), name)
    for number in range(scenario.calls):
        yield from encoder.call(str(number + 1), ARGUMENTS)
    yield from encoder.end(scenario.ending, usage=scenario.usage)


def _words(scenario: Scenario, body: Mapping[str, Any]) -> Iterable[str]:
    match scenario.says:
        case "words":
            return scenario.words
        case "echo":
            return (_last_message_text(body),)
        case "json at second try" if len(body.get("messages") or body.get("contents") or ()) < 3:
            return ("Here you are: ", '{"wrong": true}')
        case _:
            schema = schema_in(body)
            text = json.dumps(value_for(schema) if schema is not None else {})
            return (text[: len(text) // 2], text[len(text) // 2 :])


def _last_message_text(body: Mapping[str, Any]) -> str:
    turns = body.get("messages") or body.get("contents") or [{}]
    content = turns[-1].get("content") or turns[-1].get("parts") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content) or "…"
