"""A server that sends raw bytes, cut anywhere, and closes connections when it is told to."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from antiphon.providers.wire import HttpRequest

FRAME = b'data: {"choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
BODY = b"%x\r\n%b\r\n" % (len(FRAME), FRAME)
END = b"0\r\n\r\n"
LIMIT_S = 20


def request_to(url: str) -> HttpRequest:
    """Build a request without a key."""
    return HttpRequest(url, {"content-type": "application/json"}, b"{}", None, "", "", connect_ms=5_000)


async def read_request(reader: asyncio.StreamReader) -> None:
    """Read a request with a body of known length."""
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split()[0]))


@asynccontextmanager
async def serve(pieces: Sequence[bytes], *, answers: int = 1) -> AsyncIterator[tuple[str, list[int]]]:
    """Serve the same pieces for each request, then close; give the URL and the number of requests by connection."""
    counts: list[int] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        counts.append(0)
        connection = len(counts) - 1
        try:
            for _ in range(answers):
                await read_request(reader)
                counts[connection] += 1
                for piece in pieces:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", counts


class ThreadServer:
    """Server in a thread, so that it acts while the event loop of the client is blocked."""

    def __init__(self, scripts: Sequence[Sequence[bytes | None]]) -> None:
        # For each connection, the answers to its requests; None closes without an answer.
        self._scripts = scripts
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(LIMIT_S)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.requests: list[int] = []
        self.closed = threading.Event()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _serve(self) -> None:
        for number, script in enumerate(self._scripts):
            connection, _ = self._listener.accept()
            connection.settimeout(LIMIT_S)
            with connection:
                for answer in script:
                    self._read(connection)
                    self.requests.append(number)
                    if answer is None:
                        break
                    connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)
                self.closed.set()
        self._listener.close()

    def _read(self, connection: socket.socket) -> None:
        request = b""
        while not request.endswith(b"}"):
            request += connection.recv(65536)

    def start(self) -> None:
        """Begin to accept connections."""
        self._thread.start()

    def stop(self) -> None:
        """Wait until all connections were served."""
        self._thread.join(LIMIT_S)


@contextmanager
def thread_server(*scripts: Sequence[bytes | None]) -> Iterator[ThreadServer]:
    """Run a server that gives each connection its answers, then closes it."""
    server = ThreadServer(scripts)
    server.start()
    try:
        yield server
    finally:
        server.stop()
