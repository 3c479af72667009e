"""Sockets for the HTTP library, straight on asyncio.

1. The library's own sockets ask the operating system twice more per read (to listen, and to stop listening) and open
   a scope for a timeout that is not used here. A stream of deltas is many small reads: without that, each costs half.
2. The library reads a body chunk by chunk through five layers. It is given the head of an answer by itself, so that
   the data of the body can be taken straight from the socket; the end of the body it reads again. That halves the rest.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Iterable
from typing import Any

import httpcore2

from antiphon.providers.http.chunks import ChunkReader

# More than this is not read ahead of the reader.
MOST_AHEAD = 256 * 1024
# How long to try one address of a host before trying the next as well (RFC 8305).
NEXT_ADDRESS_S = 0.25
HEAD_END, INFORMATION = b"\r\n\r\n", b"HTTP/1.1 1"
LARGEST_HEAD = 64 * 1024


class _Inbound(asyncio.Protocol):
    """What came in and was not yet read."""

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
        if self._size > MOST_AHEAD and not self._paused:
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
        """All that is there, waiting for something if there is nothing; nothing at the end."""
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

    async def drained(self) -> None:
        """Wait until more can be sent."""
        await self._writable.wait()
        if self.error is not None or self.transport.is_closing():
            raise httpcore2.WriteError("the connection was closed")

    @property
    def is_readable(self) -> bool:
        """Whether reading would not wait: there is data, or there never will be."""
        return self.ended or bool(self._pieces)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class LoopStream(httpcore2.AsyncNetworkStream):
    """One connection."""

    def __init__(self, inbound: _Inbound) -> None:
        self._inbound = inbound
        self._beyond = b""
        self._in_head = True

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has arrived, at most so much of it and nothing beyond the head of an answer; nothing at the end."""
        data = self._beyond or await self._taken_within(timeout)
        while self._in_head and HEAD_END not in data and len(data) < LARGEST_HEAD:
            more = await self._taken_within(timeout)
            if not more:
                break
            data += more
        most = max_bytes
        if self._in_head:
            most = min(most, data.find(HEAD_END) + len(HEAD_END)) if HEAD_END in data else most
            self._in_head = data.startswith(INFORMATION)
        self._beyond = data[most:]
        return data[:most]

    async def data(self) -> AsyncGenerator[bytes, None]:
        """The data of a body in chunks as it arrives; its end, however it comes, is left to be read."""
        reader = ChunkReader()
        while not reader.ended:
            came = self._beyond or await self._inbound.take()
            self._beyond = b""
            if not came:
                return
            try:
                found = reader.feed(came)
            except ValueError as error:
                raise httpcore2.RemoteProtocolError(str(error)) from error
            if reader.ended:
                self._beyond = reader.rest
            if found:
                yield found

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send, and wait while the other side does not take it; what is read next is the head of an answer."""
        self._in_head = True
        try:
            async with asyncio.timeout(timeout):
                self._inbound.transport.write(buffer)
                await self._inbound.drained()
        except TimeoutError as error:
            raise httpcore2.WriteTimeout(f"nothing could be sent for {timeout} s") from error

    async def aclose(self) -> None:
        """Close at once: whoever closes a stream does not want the rest of it."""
        self._inbound.transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "LoopStream":
        """The same connection, encrypted."""
        inbound = self._inbound
        try:
            async with asyncio.timeout(timeout):
                transport = await asyncio.get_running_loop().start_tls(
                    inbound.transport, inbound, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError as error:
            await self.aclose()
            raise httpcore2.ConnectTimeout("no encryption in time") from error
        except (OSError, ssl.SSLError) as error:
            await self.aclose()
            raise httpcore2.ConnectError(str(error)) from error
        assert transport is not None
        inbound.transport = transport
        return self

    def get_extra_info(self, info: str) -> Any:
        """What the connection pool asks."""
        if info == "is_readable":
            return bool(self._beyond) or self._inbound.is_readable
        return self._inbound.transport.get_extra_info(info)

    async def _taken_within(self, timeout: float | None) -> bytes:
        if timeout is None:
            return await self._inbound.take()
        try:
            async with asyncio.timeout(timeout):
                return await self._inbound.take()
        except TimeoutError as error:
            raise httpcore2.ReadTimeout(f"nothing came for {timeout} s") from error


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
        """A connection to a host, over the first of its addresses that answers."""
        try:
            async with asyncio.timeout(timeout):
                _, inbound = await asyncio.get_running_loop().create_connection(
                    _Inbound, host, port, happy_eyeballs_delay=NEXT_ADDRESS_S
                )
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"no connection in {timeout} s") from error
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        return LoopStream(inbound)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
