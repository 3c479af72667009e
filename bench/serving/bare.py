"""A bare relay that commits the same rows: `python -m serving.bare FOLDER PROVIDER STREAMS`.

The words of the provider become rows of a journal, by the group commit of `durable/served.py`, and are sent once they
are durable. There is no thread, no machine and no state: nothing could be read again, resumed or asked for.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import uvicorn
import uvloop

from durable.bare import AT, make_file
from durable.served import Group
from serving.provider_words import read_words

SSE = [(b"content-type", b"text/event-stream")]


class BareRelay:
    """The ASGI application."""

    def __init__(self, path: Path, provider: str) -> None:
        self._group = Group(path)
        self._provider = provider
        self._actors = count(1)
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Relay one stream."""
        if self._running is None:
            self._running = asyncio.create_task(self._group.run())
        actor = next(self._actors)
        await send({"type": "http.response.start", "status": 200, "headers": SSE})
        seq = 1
        async for text in read_words(self._provider):
            seq += 1
            event = {"type": "TEXT_CHUNK", "requestId": f"{AT:032x}", "content": text}
            row = orjson.dumps({"event": event, "value": {"chat": "replying"}, "from": "chat/reply/streamReply"})
            await self._group.commit(actor, seq, row.decode())
            data = orjson.dumps({"seq": seq, "at": AT, "kind": "text", "facts": {"text": text}})
            await send({"type": "http.response.body", "body": b"id: %d\ndata: %b\n\n" % (seq, data), "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def main(folder: Path, provider: str, streams: int) -> None:
    """Serve until killed."""
    path = folder / "bare.db"
    await make_file(path, streams)
    config = uvicorn.Config(BareRelay(path, provider), port=0, http="h11", ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}", flush=True)
    await serving


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
