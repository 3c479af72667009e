"""Readers of threads that rest: a replay, idle readers, and pages of a list."""

from __future__ import annotations

import asyncio
import json
import resource
from time import perf_counter

from serving.load import Target
from serving.proc import memory_mb

PAGES = 200
ID = b"\nid: "


async def replay(url: str, token: str, thread: str) -> tuple[int, float]:
    """Read a thread from its beginning to its last cursor; return its frames and the milliseconds, the best of five."""
    target = Target(url, token)
    cursor = (await target.ask("GET", f"/threads/{thread}?content=false"))["cursor"].encode()
    times = []
    for _ in range(5):
        reader, writer = await asyncio.open_connection(target.host, target.port, limit=2**22)
        started = perf_counter()
        writer.write(target.head("GET", f"/threads/{thread}/events", accept="text/event-stream"))
        frames = 0
        tail = b""
        while data := await reader.read(2**18):
            frames += data.count(ID)
            tail = (tail + data)[-2_000:]
            if b"id: " + cursor + b"\n" in tail:
                break
        times.append((perf_counter() - started) * 1000)
        writer.close()
    return frames, min(times)


async def idle_readers(url: str, token: str, thread: str, readers: int, pid: int) -> float:
    """Open readers at the end of a thread; return the memory of the server with them."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    target = Target(url, token)
    cursor = (await target.ask("GET", f"/threads/{thread}?content=false"))["cursor"]
    request = target.head("GET", f"/threads/{thread}/events?after={cursor}", accept="text/event-stream")
    writers = []
    for _ in range(readers):
        reader, writer = await asyncio.open_connection(target.host, target.port)
        writer.write(request)
        await reader.readuntil(b"retry: ")
        writers.append(writer)
    used = memory_mb(pid)
    for writer in writers:
        writer.close()
    return used


async def list_pages(url: str, token: str) -> float:
    """Read pages of the list, one after the other, on one connection; return the 95th percentile in milliseconds."""
    target = Target(url, token)
    reader, writer = await asyncio.open_connection(target.host, target.port, limit=2**22)
    times = []
    after = ""
    for _ in range(PAGES):
        started = perf_counter()
        writer.write(target.head("GET", f"/threads?limit=20{after}"))
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].split()[0])
        page = json.loads(await reader.readexactly(length))
        times.append((perf_counter() - started) * 1000)
        assert len(page["items"]) == 20
        after = f"&after={page['next']}"
    writer.close()
    return sorted(times)[PAGES * 95 // 100]
