"""Sockets for the HTTP library, directly on asyncio.

1. The sockets of the library need two more system calls per read (to start and stop listening) and open
   a timeout scope that is not used here. A stream of deltas is many small reads.
2. The library alone parses HTTP. It gets bytes only up to an empty line, unless the length of the body is known: so
   bytes after the end of a response are noticed, and the connection is not used again. Chunks that arrive together
   are joined for it (`chunk_joiner.py`).
3. A connection that the server closes while it is idle is noticed before the next request is sent (the socket is
   polled), or by the end of the connection before any byte of the response (`StaleConnection`).
"""

import asyncio
import select
import ssl
from collections.abc import Iterable
from typing import Any, cast

import httpcore2

from antiphon.providers.http.chunk_joiner import ChunkJoiner
from antiphon.providers.http.dialing import dial

# Reading from the socket pauses when this many bytes are buffered.
MAX_BUFFERED = 256 * 1024
# Empty lines after a line that ends with CR LF: the end of a head, and of a chunked body.
EMPTY_LINES = (b"\r\n\r\n", b"\r\n\n")
LONGEST_EMPTY_LINE = 4
# Failures of a TLS handshake that may not occur again.
PASSING_TLS_ERRORS = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)


class StaleConnection(httpcore2.ReadError):
    """Raised when a connection that was used before ends without any byte of the response."""


class TlsError(httpcore2.ConnectError):
    """Raised when there is no secure connection, because of a certificate or because the server does not use TLS."""


class _Inbound(asyncio.Protocol):
    """Protocol that buffers received bytes."""

    __slots__ = ("_paused", "_pieces", "_size", "_waiter", "_writable", "ended", "error", "transport")

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self.ended = False
        self.error: Exception | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._paused = False
        self._waiter: asyncio.Future[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # those of uvloop are of a class of their own

    def data_received(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > MAX_BUFFERED and not self._paused:
            self._paused = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self.ended = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self.ended = True
        self.error = error
        self._wake()
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def take(self) -> bytes:
        """Return all buffered bytes, waiting for some if there are none; empty at the end."""
        if not self._pieces and not self.ended:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        if not self._pieces and self.error is not None:
            raise httpcore2.ReadError(str(self.error) or type(self.error).__name__) from self.error
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        if self._paused:
            self._paused = False
            self.transport.resume_reading()
        return data

    async def drain(self) -> None:
        """Wait until more can be sent."""
        await self._writable.wait()
        if self.error is not None or self.transport.is_closing():
            raise httpcore2.WriteError("the connection was closed")

    @property
    def is_readable(self) -> bool:
        """True if reading would not block: there is data, or the connection has ended."""
        return self.ended or bool(self._pieces)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class LoopStream(httpcore2.AsyncNetworkStream):
    """Connection on the running event loop."""

    def __init__(self, inbound: _Inbound) -> None:
        self._inbound = inbound
        self._buffer = b""
        # The last bytes of the previous read, because an empty line may be split between two reads.
        self._tail = b""
        # Bytes of the body that were not read yet, if its length is known; negative if there are more.
        self._body_left: int | None = None
        self._joiner: ChunkJoiner | None = None
        self._at_boundary = True
        self._reusable = True
        self._answered = False
        self._used_before = False

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return received bytes, up to `max_bytes` and up to an empty line; empty at the end."""
        received = self._buffer or await self._receive(timeout)
        if self._body_left is None:
            boundary = self._find_boundary(received)
            size = min(boundary or len(received), max_bytes)
            self._at_boundary = size == boundary
            self._tail = b"" if self._at_boundary else (self._tail + received[:size])[1 - LONGEST_EMPTY_LINE :]
        else:
            size = min(len(received), max_bytes)
            self._body_left -= size
            self._at_boundary = self._body_left == 0
        self._buffer = received[size:]
        return received[:size]

    def begin_body(self, length: int | None, *, is_chunked: bool) -> None:
        """Take note of the form of the body after its head was read."""
        self._body_left = length
        # The library may hold a part of the body already: a head may end in ways that are not searched for.
        self._reusable = self._at_boundary
        if is_chunked and self._at_boundary:
            self._joiner = ChunkJoiner()
            self._buffer = self._joiner.join(self._buffer)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes, waiting while the buffer is full; the next read is the head of a response."""
        self._used_before = self._used_before or self._answered
        self._answered = False
        self._body_left = None
        self._joiner = None
        try:
            async with asyncio.timeout(timeout):
                self._inbound.transport.write(buffer)
                await self._inbound.drain()
        except TimeoutError as error:
            raise httpcore2.WriteTimeout(f"could not send for {timeout} s") from error

    async def aclose(self) -> None:
        """Abort the connection: unread data is dropped."""
        self._inbound.transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "LoopStream":
        """Upgrade the connection to TLS."""
        inbound = self._inbound
        try:
            async with asyncio.timeout(timeout):
                transport = await asyncio.get_running_loop().start_tls(
                    inbound.transport, inbound, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError as error:
            await self.aclose()
            raise httpcore2.ConnectTimeout(f"no TLS handshake within {timeout} s") from error
        except OSError as error:
            await self.aclose()
            is_final = isinstance(error, ssl.SSLError) and not isinstance(error, PASSING_TLS_ERRORS)
            kind = TlsError if is_final else httpcore2.ConnectError
            raise kind(getattr(error, "verify_message", "") or str(error)) from error
        assert transport is not None
        inbound.transport = transport
        # A request to a proxy, which came before, does not count as a use.
        self._answered = False
        return self

    def get_extra_info(self, info: str) -> Any:
        """Return information for the connection pool."""
        if info == "is_readable":
            return not self._is_idle()
        return self._inbound.transport.get_extra_info(info)

    def _is_idle(self) -> bool:
        """Return whether the connection can be used again: open, with nothing after the last response."""
        is_complete = self._reusable and self._at_boundary and not self._buffer
        return is_complete and not self._inbound.is_readable and not _is_socket_readable(self._inbound.transport)

    def _find_boundary(self, received: bytes) -> int | None:
        """Return the position after the first empty line, or None."""
        if self._tail:
            split = self._tail + received[: LONGEST_EMPTY_LINE - 1]
            ends = [split.find(line) + len(line) for line in EMPTY_LINES if line in split]
            if ends:
                return min(ends) - len(self._tail)
        ends = [at + len(line) for line in EMPTY_LINES if (at := received.find(line)) >= 0]
        return min(ends) if ends else None

    async def _receive(self, timeout: float | None) -> bytes:
        try:
            received = await self._take_within(timeout)
        except httpcore2.ReadError as error:
            raise self._end(str(error)) from error
        if not received and self._used_before and not self._answered:
            raise self._end("the server closed the connection")
        self._answered = True
        return received if self._joiner is None else self._joiner.join(received)

    def _end(self, reason: str) -> httpcore2.ReadError:
        is_stale = self._used_before and not self._answered
        return StaleConnection(reason) if is_stale else httpcore2.ReadError(reason)

    async def _take_within(self, timeout: float | None) -> bytes:
        if timeout is None:
            return await self._inbound.take()
        try:
            async with asyncio.timeout(timeout):
                return await self._inbound.take()
        except TimeoutError as error:
            raise httpcore2.ReadTimeout(f"nothing received for {timeout} s") from error


class LoopBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections on the running event loop."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> LoopStream:
        """Connect to the first address of a host that answers."""
        try:
            async with asyncio.timeout(timeout):
                connection = await dial(host, port)
                _, inbound = await asyncio.get_running_loop().create_connection(_Inbound, sock=connection)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"no connection within {timeout} s") from error
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        return LoopStream(inbound)

    async def sleep(self, seconds: float) -> None:
        """Wait for some seconds."""
        await asyncio.sleep(seconds)


def _is_socket_readable(transport: asyncio.Transport) -> bool:
    """Return whether the socket has bytes or its end, which the event loop may not have read yet."""
    connection = transport.get_extra_info("socket")
    descriptor: int = -1 if connection is None else connection.fileno()
    if descriptor < 0:
        return True
    if not hasattr(select, "poll"):
        return bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
