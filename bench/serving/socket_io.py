"""A stream of a server that speaks socket.io over a WebSocket, as the page of Chainlit does; no more of it."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from time import monotonic_ns
from typing import Any

from serving.words import WORD, Tally

UPGRADED = b"HTTP/1.1 101"
CONNECTED = b'40{"sid"'
PATH = "/ws/socket.io/?EIO=4&transport=websocket"


def text_frame(text: str) -> bytes:
    """A masked text frame; the mask of zeros leaves the text as it is."""
    data = text.encode()
    size = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0x80 | 126]) + len(data).to_bytes(2, "big")
    return b"\x81" + size + bytes(4) + data


def event(*values: Any) -> bytes:
    """An event of socket.io."""
    return text_frame("42" + json.dumps(values))


class SocketListener(asyncio.Protocol):
    """Connects, sends one message, and reads its words."""

    def __init__(self, host: str, tally: Tally) -> None:
        self._host = host
        self._tally = tally
        self._rest = b""
        self._next = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for a WebSocket."""
        self._transport: Any = transport
        lines = (
            f"GET {PATH} HTTP/1.1",
            f"host: {self._host}",
            "upgrade: websocket",
            "connection: Upgrade",
            "sec-websocket-version: 13",
            "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==",
        )
        transport.write(("\r\n".join(lines) + "\r\n\r\n").encode())  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """Answer the handshakes, then read words."""
        now = monotonic_ns() // 1000
        if data.startswith(UPGRADED):
            login = {"clientType": "webapp", "sessionId": str(uuid.uuid4()), "userEnv": "{}"}
            self._transport.write(text_frame("40" + json.dumps(login)))
        if CONNECTED in data:
            message = {"id": _uuid4(), "type": "user_message", "name": "user", "output": "Hello", "createdAt": ""}
            self._transport.write(event("connection_successful"))
            self._transport.write(event("client_message", {"message": message, "fileReferences": []}))
        received = self._rest + data
        end = 0
        for word in WORD.finditer(received):
            end = word.end()
            if self._next < self._tally.words:  # the whole text follows at the end
                self._next = self._tally.take(int(word[1]), now - int(word[2]), self._next)
        self._rest = received[end:][-64:]
        if self._next >= self._tally.words:
            self._transport.close()


def _uuid4() -> str:
    return str(uuid.UUID(bytes=os.urandom(16), version=4))
