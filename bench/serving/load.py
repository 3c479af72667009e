"""The load: many streams at once, read in a process of its own: `python -m serving.load` with JSON as its argument.

Words are found by their form in the bytes that come, whatever the frames around them are, so that reading costs little.
All is counted while all streams run: after the first word of the last, before the last word of the first.
"""

from __future__ import annotations

import asyncio
import json
import re
import resource
import sys
from time import monotonic_ns
from typing import Any
from urllib.parse import urlsplit

import uvloop

from serving.proc import memory_mb
from serving.socket_io import SocketListener
from serving.words import WORD, Tally

FRAME = b"\n\n"
TEXT = b'"kind":"text"'
CHUNK = b"content"
AT_ONCE = 20  # requests under way at once, while threads are made
LIMIT_S = 60


class Listener(asyncio.Protocol):
    """One stream: sends a request and reads words."""

    def __init__(self, request: bytes, tally: Tally, marker: bytes) -> None:
        self._request = request
        self._tally = tally
        self._marker = marker
        self._rest = b""
        self._next = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the request."""
        self._transport: Any = transport
        transport.write(self._request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """Read the words of whole frames."""
        now = monotonic_ns() // 1000
        whole, mark, self._rest = (self._rest + data).rpartition(FRAME)
        if mark:
            for frame in whole.split(FRAME):
                if self._marker in frame:
                    for number, sent in WORD.findall(frame):
                        self._next = self._tally.take(int(number), now - int(sent), self._next)
            if self._next == self._tally.words:
                self._transport.close()


class Target:
    """The server that is measured."""

    def __init__(self, url: str, token: str = "") -> None:
        parts = urlsplit(url)
        self.host = str(parts.hostname)
        self.port = int(parts.port or 80)
        self._token = f"authorization: Bearer {token}\r\n" if token else ""

    def head(self, method: str, path: str, body: bytes = b"", accept: str = "application/json") -> bytes:
        """A request."""
        length = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n" if method == "POST" else ""
        lines = (
            f"{method} {path} HTTP/1.1\r\nhost: {self.host}:{self.port}\r\naccept: {accept}\r\n{self._token}{length}"
        )
        return f"{lines}\r\n".encode() + body

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request, and return the JSON of its response."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            writer.write(self.head(method, path, b"" if body is None else json.dumps(body).encode()))
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(re.search(r"content-length: (\d+)", head)[1])  # type: ignore[index]
            answer = json.loads(await reader.readexactly(length))
            assert head.split()[1].startswith("2"), answer
            return answer
        finally:
            writer.close()


async def in_turns(work: Any, number: int) -> list[Any]:
    """Do some work so many times, a few at once."""
    places = asyncio.Semaphore(AT_ONCE)

    async def once(index: int) -> Any:
        async with places:
            return await work(index)

    return list(await asyncio.gather(*(once(index) for index in range(number))))


async def run_threads(target: Target, tally: Tally, streams: int, model: str) -> None:
    """Chats of Antiphon: made and followed, then all of them get a message."""
    made = await in_turns(lambda _: target.ask("POST", "/threads", {"kind": "chat", "model": model}), streams)
    loop = asyncio.get_running_loop()
    for thread in made:
        request = target.head("GET", f"/threads/{thread['id']}/events", accept="text/event-stream")
        await loop.create_connection(lambda request=request: Listener(request, tally, TEXT), target.host, target.port)  # type: ignore[misc]
    await in_turns(lambda n: target.ask("POST", f"/threads/{made[n]['id']}/messages", {"text": "Hello"}), streams)
    await tally.over.wait()


async def run_relays(target: Target, tally: Tally, streams: int, path: str) -> None:
    """Streams that begin with their request."""
    loop = asyncio.get_running_loop()
    marker = CHUNK if "chat" in path else TEXT
    for number in range(streams):
        request = target.head("POST", path.format(number), b'{"model":"m-paced","stream":true}')
        await loop.create_connection(lambda request=request: Listener(request, tally, marker), target.host, target.port)  # type: ignore[misc]
    await tally.over.wait()


async def run_sockets(target: Target, tally: Tally, streams: int) -> None:
    """Streams over socket.io."""
    loop = asyncio.get_running_loop()
    for _ in range(streams):
        await loop.create_connection(lambda: SocketListener(target.host, tally), target.host, target.port)
    await tally.over.wait()


async def main(job: dict[str, Any]) -> None:
    """Read all streams to their end; print what was measured."""
    target = Target(job["url"], job.get("token", ""))
    tally = Tally(job["streams"], job["words"], job.get("pid"))
    idle_mb = memory_mb(job["pid"]) if job.get("pid") else 0.0
    if job.get("path") == "socket.io":
        work = run_sockets(target, tally, job["streams"])
    elif "path" in job:
        work = run_relays(target, tally, job["streams"], job["path"])
    else:
        work = run_threads(target, tally, job["streams"], job["model"])
    try:
        await asyncio.wait_for(work, job.get("limit_s", LIMIT_S))
        figures = tally.figures()
    except TimeoutError:
        figures = {"failed": f"{tally.received} of {job['streams'] * job['words']} words in time"}
    print(json.dumps({**figures, "idle_mb": idle_mb}))


if __name__ == "__main__":
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(json.loads(sys.argv[1])))
