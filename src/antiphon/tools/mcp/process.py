"""Server as a process: exchanges messages as lines, keeps the end of its output, and ends its process group."""

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

MAX_LINE = 16 * 1024 * 1024
MAX_OUTPUT = 2_000
# Delay between closing the input of a server, SIGTERM and SIGKILL.
GRACE_S = 2.0

InboundStream = MemoryObjectSendStream[SessionMessage | Exception]
OutboundStream = MemoryObjectReceiveStream[SessionMessage]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@dataclass(slots=True)
class ServerOutput:
    """End of what a server wrote besides its messages."""

    errors: bytes = b""
    stray: bytes = b""

    def add(self, data: bytes) -> None:
        """Add data from the standard error."""
        self.errors = (self.errors + data)[-MAX_OUTPUT:]

    @property
    def line(self) -> str:
        """Last line, which may explain a failure."""
        lines = (self.errors.strip() or self.stray.strip()).splitlines()
        return lines[-1][-300:].decode("utf-8", "replace").strip() if lines else ""


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """Command line, environment and folder of a process."""

    words: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    cwd: str | None = None


class _ProcessProtocol(SubprocessStreamProtocol):
    """Notices the end of the process even if a child of it keeps the pipes open."""

    def __init__(self) -> None:
        super().__init__(limit=MAX_LINE, loop=asyncio.get_running_loop())
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        """Note that the process has ended."""
        super().process_exited()
        self.exited.set()


@asynccontextmanager
async def process_streams(
    command: ServerCommand, output: ServerOutput, ended: Callable[[], None]
) -> AsyncIterator[Streams]:
    """Start a process and exchange messages with it; on exit, end it and all processes that it started."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        _ProcessProtocol, *command.words, stdin=PIPE, stdout=PIPE, stderr=PIPE,
        env=dict(command.env), cwd=command.cwd, start_new_session=True,
    )  # fmt: skip
    process = Process(transport, protocol, loop)
    arriving, inbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbound, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, process, arriving, output, ended)
            tasks.start_soon(_write, process, leaving, arriving)
            tasks.start_soon(_read_errors, process, output)
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


async def _read(process: Process, arriving: InboundStream, output: ServerOutput, ended: Callable[[], None]) -> None:
    # The end of this stream tells waiting callers that the server has ended.
    try:
        with arriving, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
            while line := await _read_line(process, output):
                if message := _parse_message(line, output):
                    await arriving.send(message)
    finally:
        ended()


async def _read_line(process: Process, output: ServerOutput) -> bytes:
    assert process.stdout is not None
    try:
        return await process.stdout.readline()
    except ValueError:
        output.add(b"\nthe server wrote a line of more than 16 MiB")
        return b""


def _parse_message(line: bytes, output: ServerOutput) -> SessionMessage | None:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        # Some servers write other text to standard output; it is skipped.
        output.stray = line[-MAX_OUTPUT:]
        return None


async def _write(process: Process, leaving: OutboundStream, arriving: InboundStream) -> None:
    assert process.stdin is not None
    try:
        async for item in leaving:
            process.stdin.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()
    except (ConnectionError, RuntimeError):
        # The process no longer reads, so waiting callers are notified.
        arriving.close()


async def _read_errors(process: Process, output: ServerOutput) -> None:
    assert process.stderr is not None
    while data := await process.stderr.read(4_096):
        output.add(data)


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
    # The id of the group is that of its first process, even if that has already ended.
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.kill()
