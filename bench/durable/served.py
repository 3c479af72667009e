"""A bare group-commit loop: clients that wait for their rows, a thread that writes those of all, and no machine.

It is what group commit means, without letters, steps, journals to replay or anything to recover from.
"""

from __future__ import annotations

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from antiphon.stores import files
from durable.bare import AT, SQL, make_file
from durable.turns import each, serve

Waiting = tuple[int, int, str | None, "asyncio.Future[None]"]


class Group:
    """Commits the rows of all who wait in one transaction, as soon as the one before is durable."""

    def __init__(self, path: Path) -> None:
        self._connection = files.connect(path, files.DURABILITY["full"])
        self._thread = ThreadPoolExecutor(1)
        self._waiting: list[Waiting] = []
        self._wake = asyncio.Event()
        self.transactions = 0

    async def commit(self, actor: int, seq: int, body: str | None = None) -> None:
        """One step of an actor, durable when this returns; with a body of its own, if it has one."""
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((actor, seq, body, stored))
        self._wake.set()
        await stored

    async def run(self) -> None:
        """Commit for ever."""
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            self._wake.clear()
            batch, self._waiting = self._waiting, []
            await loop.run_in_executor(self._thread, self._write, batch)
            for *_, stored in batch:
                stored.set_result(None)

    def _write(self, batch: list[Waiting]) -> None:
        self.transactions += 1
        connection = self._connection
        connection.execute("begin immediate")
        connection.executemany(SQL["move_actor"], [(seq, "active", AT, actor, seq - 1) for actor, seq, *_ in batch])
        rows = [(actor, seq, AT, "", f"{AT:032x}{seq:x}", body or _body(seq)) for actor, seq, body, _ in batch]
        connection.executemany(SQL["add_entry"], rows)
        connection.execute("commit")


def _body(seq: int) -> str:
    value = "pong" if seq % 2 else "ping"
    return json.dumps({"event": {"type": "GO"}, "value": value}, separators=(",", ":"))


async def main(folder: Path, actors: int) -> None:
    """As many clients as actors, each of which commits its next step when the last is durable."""
    path = folder / f"served-{actors}.db"
    await make_file(path, actors)
    group = Group(path)
    running = asyncio.get_running_loop().create_task(group.run())
    seqs = dict.fromkeys(range(1, actors + 1), 1)

    async def insist(actor: int, events: int) -> None:
        for _ in range(events):
            seqs[actor] += 1
            await group.commit(actor, seqs[actor])

    async def burst() -> int:
        await asyncio.gather(*(insist(actor, each(actors)) for actor in seqs))
        return actors * each(actors)

    sent = await burst()
    await serve(burst, events_per_transaction=sent / group.transactions)
    running.cancel()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
