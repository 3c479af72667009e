"""Sockets for the HTTP library, directly on asyncio.

1. The sockets of the library need two more system calls per read (to start and stop listening) and open
   a timeout scope that is not used here. A stream of deltas is many small reads: without that, each costs half.
2. The library reads a body chunk by chunk through five layers. It gets the head of a response separately, so that
   the data of the body can be read from the socket; the library reads its end. That halves the remaining cost.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Iterable
from typing import Any

import httpcore2

from antiphon.providers.http.chunks import ChunkReader

# Reading from the socket pauses when this many bytes are buffered.
MAX_BUFFERED = 256 * 1024
# Delay before the next address of a host is tried as well (RFC 8305).
NEXT_ADDRESS_S = 0.25
HEAD_END = b"\r\n\r\n"
INFORMATIONAL = b"HTTP/1.1 1"
LARGEST_HEAD = 64 * 1024


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
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

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
        self._in_head = True

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return received bytes, up to `max_bytes` and not beyond the head of a response; empty at the end."""
        data = self._buffer or await self._take_within(timeout)
        while self._in_head and HEAD_END not in data and len(data) < LARGEST_HEAD:
            more = await self._take_within(timeout)
            if not more:
                break
            data += more
        size = max_bytes
        if self._in_head:
            size = min(size, data.find(HEAD_END) + len(HEAD_END)) if HEAD_END in data else size
            self._in_head = data.startswith(INFORMATIONAL)
        self._buffer = data[size:]
        return data[:size]

    async def data(self) -> AsyncGenerator[bytes, None]:
        """Yield the data of a chunked body as it arrives; its end is left for `read`."""
        reader = ChunkReader()
        while not reader.ended:
            received = self._buffer or await self._inbound.take()
            self._buffer = b""
            if not received:
                return
            try:
                body = reader.feed(received)
            except ValueError as error:
                raise httpcore2.RemoteProtocolError(str(error)) from error
            if reader.ended:
                self._buffer = reader.buffer
            if body:
                yield body

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes, waiting while the buffer is full; the next read is the head of a response."""
        self._in_head = True
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
        except (OSError, ssl.SSLError) as error:
            await self.aclose()
            raise httpcore2.ConnectError(str(error)) from error
        assert transport is not None
        inbound.transport = transport
        return self

    def get_extra_info(self, info: str) -> Any:
        """Return information for the connection pool."""
        if info == "is_readable":
            return bool(self._buffer) or self._inbound.is_readable
        return self._inbound.transport.get_extra_info(info)

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
                _, inbound = await asyncio.get_running_loop().create_connection(
                    _Inbound, host, port, happy_eyeballs_delay=NEXT_ADDRESS_S
                )
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"no connection within {timeout} s") from error
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        return LoopStream(inbound)

    async def sleep(self, seconds: float) -> None:
        """Wait for some seconds."""
        await asyncio.sleep(seconds)
