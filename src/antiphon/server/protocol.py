"""HTTP connections with limits on time: headers must arrive, and responses must be accepted, within so many seconds."""

import asyncio
import logging
import socket
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from antiphon.server.settings import ServerSettings
from antiphon.server.windows.local import LocalDoor, is_own_peer, peer_uid

_log = logging.getLogger("antiphon.server")
SEND_BUFFER = 128 * 1024


def limited_protocol(settings: ServerSettings) -> type[H11Protocol]:
    """Return the class of connections with the limits of some settings."""

    class LimitedProtocol(_LimitedProtocol):
        header_s = settings.header_s
        stall_s = settings.stall_s

    return LimitedProtocol


def local_protocol(settings: ServerSettings) -> type[H11Protocol]:
    """Return the class of connections over the socket of this machine, with the same limits."""

    class LocalProtocol(_LimitedProtocol):
        header_s = settings.header_s
        stall_s = settings.stall_s

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.app = LocalDoor(self.app)

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if not is_own_peer(peer_uid(transport.get_extra_info("socket"))):
                _log.warning("a connection of another user was refused")
                transport.abort()

    return LocalProtocol


class _LimitedProtocol(H11Protocol):
    """Connection that is aborted if its peer is too slow."""

    header_s: float
    stall_s: float
    _headers_due: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer = transport.get_extra_info("socket")
        if peer.family == socket.AF_UNIX:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            self._expect_headers()
            return
        # The kernel would hold back the body of a response until its headers are acknowledged, for 40 ms.
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Without a limit, it buffers megabytes for a client that does not read.
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # The timer is not renewed by further bytes: it limits the time until the last header.
        if self.conn.their_state is h11.IDLE:
            self._expect_headers()
        else:
            self._headers_due = _stop(self._headers_due)

    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_due = _stop(self._headers_due)
        self._stall = _stop(self._stall)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall = self._stall or self.loop.call_later(self.stall_s, self.transport.abort)

    def resume_writing(self) -> None:
        self._stall = _stop(self._stall)
        super().resume_writing()

    def _expect_headers(self) -> None:
        if self._headers_due is None:
            self._headers_due = self.loop.call_later(self.header_s, self.transport.abort)


def _stop(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Cancel a timer, and return that there is none any more."""
    if timer is not None:
        timer.cancel()
    return None
