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
from statistics import median
from time import monotonic_ns, process_time
from typing import Any
from urllib.parse import urlsplit

import uvloop

from serving.proc import cpu_s, memory_mb

WORD = re.compile(rb"(\d+)@(\d+) ")
FRAME = b"\n\n"
TEXT = b'"kind":"text"'
CHUNK = b"content"
AT_ONCE = 20  # requests under way at once, while threads are made
LIMIT_S = 60


class Tally:
    """What all streams have received."""

    def __init__(self, streams: int, words: int, pid: int | None) -> None:
        self.words = words
        self.pid = pid
        self.delays_us: list[int] = []
        self.received = 0
        self.wrong = 0  # words that came twice, late or not at all
        self._waiting = streams
        self._left = streams
        self._marks: list[tuple[float, float, int, int]] = []
        self.memory_mb = 0.0
        self.over = asyncio.Event()

    def begin(self) -> None:
        """A stream has its first word."""
        self._waiting -= 1
        if self._waiting == 0:
            self._mark()

    def end(self) -> None:
        """A stream has its last word."""
        if len(self._marks) == 1:
            self._mark()
            self.memory_mb = memory_mb(self.pid) if self.pid else 0.0
        self._left -= 1
        if self._left == 0:
            self.over.set()

    def _mark(self) -> None:
        used = cpu_s(self.pid) if self.pid else 0.0
        self._marks.append((used, process_time(), self.received, len(self.delays_us)))

    def figures(self) -> dict[str, Any]:
        """The figures of the time in which all streams ran."""
        if len(self._marks) < 2:
            return {"failed": "the streams did not run together"}
        first, last = self._marks
        words = max(1, last[2] - first[2])
        delays = sorted(self.delays_us[first[3] : last[3]]) or [0]
        return {
            "words": words,
            "cpu_us": (last[0] - first[0]) / words * 1e6,
            "load_cpu_us": (last[1] - first[1]) / words * 1e6,
            "p50_ms": median(delays) / 1000,
            "p95_ms": delays[len(delays) * 95 // 100] / 1000,
            "memory_mb": self.memory_mb,
            "wrong": self.wrong,
        }


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
        self._transport = transport
        transport.write(self._request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """Read the words of whole frames."""
        now = monotonic_ns() // 1000
        whole, mark, self._rest = (self._rest + data).rpartition(FRAME)
        if mark:
            for frame in whole.split(FRAME):
                if self._marker in frame:
                    for number, sent in WORD.findall(frame):
                        self._take(int(number), now - int(sent))

    def _take(self, number: int, delay_us: int) -> None:
        tally = self._tally
        if number != self._next:
            tally.wrong += abs(number - self._next)
        self._next = number + 1
        tally.received += 1
        tally.delays_us.append(delay_us)
        if number == 0:
            tally.begin()
        elif number == tally.words - 1:
            tally.end()
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


async def main(job: dict[str, Any]) -> None:
    """Read all streams to their end; print what was measured."""
    target = Target(job["url"], job.get("token", ""))
    tally = Tally(job["streams"], job["words"], job.get("pid"))
    idle_mb = memory_mb(job["pid"]) if job.get("pid") else 0.0
    if "path" in job:
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
