"""Clients of a server that is killed: each reads its thread to the end, connecting again with its last id."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from serving.load import Target, in_turns

RETRY_S = 0.5
LIMIT_S = 120


class Client:
    """A reader that connects again by itself, as a browser does, and keeps every frame."""

    def __init__(self, target: Target, thread: str) -> None:
        self._target = target
        self.thread = thread
        self.frames: list[tuple[str, Any]] = []
        self.connections = 0
        self.has_text = asyncio.Event()
        self.is_complete = False

    async def run(self) -> None:
        """Read until the thread is completed."""
        while not self.is_complete:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._read()
            await asyncio.sleep(RETRY_S)

    async def _read(self) -> None:
        last = self.frames[-1][0] if self.frames else ""
        reader, writer = await asyncio.open_connection(self._target.host, self._target.port)
        try:
            path = f"/threads/{self.thread}/events?after={last}"
            writer.write(self._target.head("GET", path, accept="text/event-stream"))
            id = ""
            await reader.readuntil(b"\r\n\r\n")
            self.connections += 1
            while line := await reader.readline():
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "id":
                    id = value
                elif name == "data" and id:
                    self._take(id, json.loads(value))
                    if self.is_complete:
                        return
        finally:
            writer.close()

    def _take(self, id: str, activity: Any) -> None:
        self.frames.append((id, activity))
        if activity.get("kind") == "text":
            self.has_text.set()
        self.is_complete = activity.get("kind") == "status" and activity["facts"]["status"] == "completed"


async def kill_under_load(
    url: str, token: str, model: str, streams: int, restart: Callable[[], None]
) -> dict[str, int]:
    """Kill the server once all clients have text; return what was lost and wrong, and how many resumed.

    On a slow computer the first replies may be over when the last one begins: their clients have nothing to resume.
    """
    target = Target(url, token)
    made = await in_turns(lambda _: target.ask("POST", "/threads", {"kind": "chat", "model": model}), streams)
    clients = [Client(target, thread["id"]) for thread in made]
    running = [asyncio.create_task(client.run()) for client in clients]
    receipts = await in_turns(
        lambda n: target.ask("POST", f"/threads/{clients[n].thread}/messages", {"text": "Hello"}), streams
    )
    await asyncio.wait_for(asyncio.gather(*(client.has_text.wait() for client in clients)), LIMIT_S)
    reading = [client for client in clients if not client.is_complete]
    await asyncio.to_thread(restart)
    await asyncio.wait(running, timeout=LIMIT_S)
    for task in running:
        task.cancel()
    lost = wrong = 0
    for client, receipt in zip(clients, receipts, strict=True):
        stored = await read_all(target, client.thread)
        lost += len({id for id, _ in client.frames} - set(stored))
        lost += not any(activity["seq"] >= receipt["seq"] for activity in stored.values())
        wrong += [id for id, _ in client.frames] != list(stored)[: len(client.frames)]
    resumed = sum(client.connections > 1 and client.is_complete for client in reading)
    return {"lost": lost, "wrong": wrong, "resumed": resumed, "reading": len(reading)}


async def read_all(target: Target, thread: str) -> dict[str, Any]:
    """The activities of a thread, by their cursors."""
    items: dict[str, Any] = {}
    after = ""
    while True:
        page = await target.ask("GET", f"/threads/{thread}/events?limit=1000&after={after}")
        items |= {activity["cursor"]: activity for activity in page["items"]}
        after = page["cursor"]
        if not page["more"]:
            return items
