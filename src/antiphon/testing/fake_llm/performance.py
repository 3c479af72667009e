"""Playing a scenario to one client, byte for byte."""

import asyncio
import json
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from antiphon.testing.fake_llm.scenarios import ARGUMENTS, LONG_LINE, Scenario
from antiphon.testing.fake_llm.values import schema_in, value_for
from antiphon.testing.fake_llm.voice import Voice

POLL_S = 0.005
PAGE = b"<!doctype html><title>Sign in</title><p>Please sign in to the network.</p>"


class ClientLeft(Exception):
    """The client has closed its side."""


class Record(Protocol):
    """What is written down while a scenario plays."""

    body: Mapping[str, Any]
    deltas: int
    waiting: asyncio.Event


class Stage:
    """One connection, with everything a badly behaved server can do to it."""

    __slots__ = ("_reader", "_writer")

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def answer(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer in JSON."""
        body = json.dumps(value).encode()
        await self._head(
            status, {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
        )
        await self._write(body)

    async def open(self, content_type: str = "text/event-stream; charset=utf-8") -> None:
        """The head of a stream."""
        await self._head(200, {"content-type": content_type, "transfer-encoding": "chunked"})

    async def send(self, data: bytes) -> None:
        """One chunk of the body."""
        if data:
            await self._write(b"%x\r\n%b\r\n" % (len(data), data))

    async def close_body(self) -> None:
        """The end of the body."""
        await self._write(b"0\r\n\r\n")

    def drop(self) -> None:
        """Close the connection, whatever was promised."""
        self._writer.close()

    def reset(self) -> None:
        """End the connection with RST."""
        connection: socket.socket = self._writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def wait_for_client_to_leave(self) -> None:
        """Do nothing until there is nobody to do it for."""
        while not self._reader.at_eof():
            await asyncio.sleep(POLL_S)
        raise ClientLeft

    async def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [
            f"HTTP/1.1 {status} Fake",
            "request-id: req_1",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        await self._write("\r\n".join([*lines, "", ""]).encode())

    async def _write(self, data: bytes) -> None:
        if self._reader.at_eof():
            raise ClientLeft
        self._writer.write(data)
        await self._writer.drain()


async def perform(scenario: Scenario, voice: Voice, stage: Stage, record: Record) -> str:
    """Play a scenario; gives how it ended."""
    if scenario.silent:
        record.waiting.set()
        await stage.wait_for_client_to_leave()
    if scenario.fault == "html":
        await stage.open("text/html")
        await stage.send(PAGE)
        await stage.close_body()
        return "complete"
    await stage.open()
    if scenario.pings:
        await _ping_forever(voice, stage, record)
    for data in before_words(scenario, voice):
        await _send(data, scenario, stage)
    await _speak(scenario, voice, stage, record)
    if scenario.fault is not None:
        return await _fail(scenario, voice, stage, record)
    for data in after_words(scenario, voice):
        await _send(data, scenario, stage)
    if scenario.lingers:
        await stage.wait_for_client_to_leave()
    await stage.close_body()
    return "complete"


async def _ping_forever(voice: Voice, stage: Stage, record: Record) -> None:
    while True:
        await stage.send(voice.ping())
        record.waiting.set()
        await asyncio.sleep(POLL_S)


async def _speak(scenario: Scenario, voice: Voice, stage: Stage, record: Record) -> None:
    for _ in range(scenario.repeat):
        for text in _words(scenario, record.body):
            await _send(b"".join(voice.words(text)), scenario, stage)
            record.deltas += 1
            if scenario.pause_ms:
                await asyncio.sleep(scenario.pause_ms / 1000)


async def _send(data: bytes, scenario: Scenario, stage: Stage) -> None:
    for piece in (data[i : i + 1] for i in range(len(data))) if scenario.split else (data,):
        await stage.send(piece)


async def _fail(scenario: Scenario, voice: Voice, stage: Stage, record: Record) -> str:
    match scenario.fault:
        case "drop":
            stage.drop()
            return "dropped"
        case "reset":
            # Data on its way is lost with a reset; the client shall see the words first.
            await asyncio.sleep(10 * POLL_S)
            stage.reset()
            return "reset"
        case "stall":
            record.waiting.set()
            await stage.wait_for_client_to_leave()
        case "overload":
            await stage.send(voice.overload())
        case "refusal":
            await stage.send(b"".join(voice.refusal()))
        case "garbage":
            await stage.send(b'data: {"type": "content_blo\n\n')
        case "long line":
            await stage.send(b"data: ")
            for _ in range(LONG_LINE // 65536):
                await stage.send(b"x" * 65536)
            await stage.send(b"\n\n")
    await stage.close_body()
    return f"fault: {scenario.fault}"


def before_words(scenario: Scenario, voice: Voice) -> Iterator[bytes]:
    """The frames that come first."""
    yield from voice.begin()
    if scenario.unknown_events:
        yield voice.unknown()
    if scenario.thoughts:
        yield from voice.thoughts(scenario.thoughts)


def after_words(scenario: Scenario, voice: Voice) -> Iterator[bytes]:
    """The frames that complete the reply."""
    if scenario.unknown_events:
        yield voice.unknown()
    for number in range(scenario.calls):
        yield from voice.call(str(number + 1), ARGUMENTS)
    yield from voice.end(scenario.ending, usage=scenario.usage)


def _words(scenario: Scenario, body: Mapping[str, Any]) -> Iterable[str]:
    match scenario.says:
        case "words":
            return scenario.words
        case "echo":
            return (_last_words(body),)
        case "json at second try" if len(body.get("messages") or body.get("contents") or ()) < 3:
            return ("Here you are: ", '{"wrong": true}')
        case _:
            schema = schema_in(body)
            text = json.dumps(value_for(schema) if schema is not None else {})
            return (text[: len(text) // 2], text[len(text) // 2 :])


def _last_words(body: Mapping[str, Any]) -> str:
    turns = body.get("messages") or body.get("contents") or [{}]
    content = turns[-1].get("content") or turns[-1].get("parts") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content) or "…"
