"""A server for a crowd, `python -m relays.pacer WORDS`: each stream gets a word every 50 ms, at the least cost.

The fake server of the tests makes every frame anew and sleeps once for every word, so that a crowd would measure it
and not its clients. This one makes the frames of the same encoder once and sends them to all who are due.
"""

from __future__ import annotations

import selectors
import socket
import sys
from time import monotonic

from antiphon.testing.fake_llm.anthropic_encoder import AnthropicEncoder

PERIOD_S, TICKS = 0.05, 10  # the streams of one period begin at different times
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def frames(words: int) -> list[bytes]:
    """What a stream is sent, a word at a time, in chunks of HTTP."""
    encoder = AnthropicEncoder("m-crowd")
    said = [list(encoder.words(f"word{number} ")) for number in range(words)]
    said[0] = [*encoder.begin(), *said[0]]
    said[-1] += [*encoder.end("end", usage=True)]
    chunked = [b"".join(b"%x\r\n%b\r\n" % (len(frame), frame) for frame in frames) for frames in said]
    return [HEAD + chunked[0], *chunked[1:-1], chunked[-1] + END]


class Pacer:
    """All streams, by the tick of the period at which they get their words."""

    def __init__(self, words: int) -> None:
        self._frames = frames(words)
        self._due: list[dict[socket.socket, int]] = [{} for _ in range(TICKS)]
        self._heard: dict[socket.socket, bytes] = {}
        self._begun = 0
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)

    def serve(self) -> None:
        """Serve until killed."""
        print(f"http://127.0.0.1:{self._listener.getsockname()[1]}", flush=True)
        tick, due = 0, monotonic()
        while True:
            due += PERIOD_S / TICKS
            self._listen(due)
            tick = (tick + 1) % TICKS
            self._send(self._due[tick])

    def _listen(self, until: float) -> None:
        while (left := until - monotonic()) > 0:
            for key, _ in self._selector.select(left):
                if key.fileobj is self._listener:
                    self._welcome()
                else:
                    self._hear(key.fileobj)  # type: ignore[arg-type]

    def _welcome(self) -> None:
        client, _ = self._listener.accept()
        client.setblocking(False)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._heard[client] = b""
        self._selector.register(client, selectors.EVENT_READ)

    def _hear(self, client: socket.socket) -> None:
        """A request is over when its body, which is a JSON object, is."""
        try:
            came = client.recv(65536)
        except OSError:
            came = b""  # the client was killed
        self._heard[client] = self._heard.get(client, b"") + came
        if not came:
            self._forget(client)
        elif self._heard[client].endswith(b"}"):
            self._heard[client] = b""
            self._due[self._begun % TICKS][client] = 0
            self._begun += 1

    def _send(self, streams: dict[socket.socket, int]) -> None:
        for client, at in list(streams.items()):
            try:
                client.send(self._frame(at))
            except OSError:
                self._forget(client)
                continue
            if at + 1 < len(self._frames):
                streams[client] = at + 1
            else:
                streams.pop(client, None)

    def _frame(self, at: int) -> bytes:
        return self._frames[at]

    def _forget(self, client: socket.socket) -> None:
        for streams in self._due:
            streams.pop(client, None)
        if self._heard.pop(client, None) is not None:
            self._selector.unregister(client)
            client.close()


if __name__ == "__main__":
    Pacer(int(sys.argv[1])).serve()
