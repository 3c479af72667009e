"""The same streams joined as the runtime joins them and stored in plain SQLite, before a follower has them.

No machine, letters or snapshots: what is left is the disk, a thread that writes, and a loop that waits for it.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

from antiphon.messages import user
from antiphon.providers.base import Request, TextDelta
from speaking.model import Bench, Metronome
from speaking.spans import COALESCE_S, joining, percentiles

SCHEMA = "create table entries (seq integer primary key, speaker text, content text)"
INSERT = "insert into entries (speaker, content) values (?, ?)"


class Writer:
    """Stores what is ready in one transaction, again and again; tells when each text was seen."""

    def __init__(self, path: str) -> None:
        self._file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for statement in ("pragma journal_mode = wal", "pragma synchronous = full", SCHEMA):
            self._file.execute(statement)
        self._thread = ThreadPoolExecutor(1)
        self._ready: list[tuple[str, list[str], asyncio.Future[float]]] = []
        self._wake = asyncio.Event()

    async def store(self, speaker: str, texts: list[str]) -> float:
        """Store some texts as one; gives the moment at which it was seen."""
        seen: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._ready.append((speaker, texts, seen))
        self._wake.set()
        return await seen

    async def run(self) -> None:
        """Write what is ready, for ever."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            works, self._ready = self._ready, []
            rows = [(speaker, "".join(texts)) for speaker, texts, _ in works]
            await asyncio.get_running_loop().run_in_executor(self._thread, self._write, rows)
            for _, _, seen in works:
                seen.set_result(perf_counter())

    def _write(self, rows: list[tuple[str, str]]) -> None:
        self._file.execute("begin immediate")
        self._file.executemany(INSERT, rows)
        self._file.execute("commit")


async def listen(debater: Metronome, writer: Writer) -> list[float]:
    """Milliseconds from letting go of a chunk to having it stored, without waiting for others."""
    added: list[float] = []
    waiting: list[tuple[int, float]] = []
    stores: set[asyncio.Task[None]] = set()
    loop = asyncio.get_running_loop()

    async def keep(batch: list[tuple[int, float]], left: float) -> None:
        seen = await writer.store(debater.model.name, [f"{number:06d} " for number, _ in batch])
        for number, since in batch:
            waited = joining(since, batch[0][1], left)
            added.append((seen - debater.let_go[0][number] - waited) * 1000)

    def flush() -> None:
        batch = waiting[:]
        waiting.clear()
        if batch:
            stores.add(loop.create_task(keep(batch, perf_counter())))

    async for delta in debater.stream(Request((user("Speak."),))):
        if isinstance(delta, TextDelta):
            if not waiting:
                loop.call_later(COALESCE_S, flush)
            waiting.append((int(delta.text), perf_counter()))
    flush()
    await asyncio.gather(*stores)
    return added


async def main(path: str, count: int, chunks: int, pace_ms: float) -> None:
    """All debaters at once."""
    bench, writer = Bench(count, chunks, pace_ms), Writer(path)
    writing = asyncio.create_task(writer.run())
    heard = await asyncio.gather(*(listen(debater, writer) for debater in bench.debaters.values()))
    writing.cancel()
    assert [len(one) for one in heard] == [chunks] * count
    print(json.dumps({"added_ms": percentiles(heard)}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
