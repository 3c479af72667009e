"""A server as a process: its lines become messages, its last words are kept, its whole group ends with it."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

MOST_OF_A_LINE = 16 * 1024 * 1024
MOST_LAST_WORDS = 2_000
# A server is asked to end by closing its input, then told to, then made to.
GRACE_S = 2.0

InboundStream = MemoryObjectSendStream[SessionMessage | Exception]
OutboundStream = MemoryObjectReceiveStream[SessionMessage]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@dataclass(slots=True)
class ServerOutput:
    """What a server wrote beside its messages; of it, the end."""

    errors: bytes = b""
    stray: bytes = b""

    def hear(self, said: bytes) -> None:
        """Keep the end of what is written to the error output."""
        self.errors = (self.errors + said)[-MOST_LAST_WORDS:]

    @property
    def line(self) -> str:
        """The last line that may explain something."""
        lines = (self.errors.strip() or self.stray.strip()).splitlines()
        return lines[-1][-300:].decode("utf-8", "replace").strip() if lines else ""


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """A process as it will be started, with everything filled in."""

    words: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    cwd: str | None = None


class _Watched(SubprocessStreamProtocol):
    """Knows when the process has ended, even while a child of it holds its pipes open."""

    def __init__(self) -> None:
        super().__init__(limit=MOST_OF_A_LINE, loop=asyncio.get_running_loop())
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        """The process itself has ended."""
        super().process_exited()
        self.exited.set()


@asynccontextmanager
async def process_streams(
    command: ServerCommand, last_words: ServerOutput, ended: Callable[[], None]
) -> AsyncIterator[Streams]:
    """Start a process and speak with it in lines; leaving ends it and all that it started."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        _Watched, *command.words, stdin=PIPE, stdout=PIPE, stderr=PIPE,
        env=dict(command.env), cwd=command.cwd, start_new_session=True,
    )  # fmt: skip
    process = Process(transport, protocol, loop)
    arriving, inbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbound, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, process, arriving, last_words, ended)
            tasks.start_soon(_write, process, leaving, arriving)
            tasks.start_soon(_listen, process, last_words)
            try:
                yield inbound, outbound
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process, protocol.exited)
                tasks.cancel_scope.cancel()
    finally:
        for stream in (arriving, inbound, outbound, leaving):
            stream.close()
        _signal_group(process, signal.SIGKILL)
        transport.close()


async def _read(process: Process, arriving: InboundStream, last_words: ServerOutput, ended: Callable[[], None]) -> None:
    # The end of this stream is how those who wait for an answer learn that the server is gone.
    try:
        with arriving, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
            while line := await _line(process, last_words):
                if message := _message(line, last_words):
                    await arriving.send(message)
    finally:
        ended()


async def _line(process: Process, last_words: ServerOutput) -> bytes:
    assert process.stdout is not None
    try:
        return await process.stdout.readline()
    except ValueError:
        last_words.hear(b"\nit wrote a line of more than 16 MiB")
        return b""


def _message(line: bytes, last_words: ServerOutput) -> SessionMessage | None:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        # Some servers greet on the wrong output; what is no message is passed over.
        last_words.stray = line[-MOST_LAST_WORDS:]
        return None


async def _write(process: Process, leaving: OutboundStream, arriving: InboundStream) -> None:
    assert process.stdin is not None
    try:
        async for one in leaving:
            process.stdin.write(one.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()
    except (ConnectionError, RuntimeError):
        # Nobody listens any more: whoever waits for an answer is told so.
        arriving.close()


async def _listen(process: Process, last_words: ServerOutput) -> None:
    assert process.stderr is not None
    while said := await process.stderr.read(4_096):
        last_words.hear(said)


async def _end(process: Process, exited: asyncio.Event) -> None:
    assert process.stdin is not None
    process.stdin.close()
    if not await _within(exited, GRACE_S):
        _signal_group(process, signal.SIGTERM)
        await _within(exited, GRACE_S)
    _signal_group(process, signal.SIGKILL)
    await _within(exited, GRACE_S)


async def _within(event: asyncio.Event, seconds: float) -> bool:
    with anyio.move_on_after(seconds):
        await event.wait()
    return event.is_set()


def _signal_group(process: Process, number: signal.Signals) -> None:
    # The group has the id of its first process, also when that one has ended before the others.
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.kill()
