"""The openings of a debate on SQLite with `synchronous=FULL`, followed chunk by chunk.

The way of a chunk has four moments: the model lets it go, its letter begins to wait for more, the letter is
delivered, the follower sees it. Two functions of the runtime are wrapped to see the two in the middle.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from antiphon.app import App
from antiphon.providers.registry import Models
from antiphon.runtime import tasks
from antiphon.runtime.records import Commit, Letter
from antiphon.stores.sqlite import SqliteStore
from speaking.model import Bench
from speaking.spans import joining, percentiles

Chunk = tuple[str, int]


class TimedStore(SqliteStore):
    """A store that notes how long each transaction takes."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.spans: list[float] = []

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Make all commits durable, and note how long that took."""
        before = perf_counter()
        await super().commit(commits, written)
        self.spans.append((perf_counter() - before) * 1000)


class Watch:
    """When chunks began to wait to be joined, since when others had waited, and when their letters left."""

    def __init__(self, runner: tasks.TaskRunner) -> None:
        self.waits: dict[Chunk, float] = {}
        self.delivered: dict[Chunk, float] = {}
        self.opened: dict[Chunk, float] = {}
        self._opened: dict[int, float] = {}
        add, deliver = tasks.Outbox.add, runner._deliver

        def noted_add(outbox: tasks.Outbox, to: str, event: Any) -> None:
            now = perf_counter()
            if outbox._coalescer is None or not outbox._coalescer._events:
                self._opened[id(outbox)] = now
            for chunk in chunks_of(event):
                self.waits[chunk], self.opened[chunk] = now, self._opened[id(outbox)]
            add(outbox, to, event)

        def noted_deliver(letter: Letter) -> None:
            now = perf_counter()
            for chunk in chunks_of(letter.event):
                self.delivered[chunk] = now
            deliver(letter)

        tasks.Outbox.add, runner._deliver = noted_add, noted_deliver  # type: ignore[method-assign]

    def joining(self, chunk: Chunk) -> float:
        """How long a chunk waited for others by design."""
        return joining(self.waits[chunk], self.opened[chunk], self.delivered[chunk])


def chunks_of(event: Any) -> list[Chunk]:
    """The chunks in an event of a debater's opening."""
    if event.get("type") != "TEXT_CHUNK" or not event["requestId"].startswith("opening"):
        return []
    speaker = event["requestId"].split("-")[2]
    return [(speaker, int(number)) for number in event["content"].split()]


async def follow(app: App, id: str, count: int, chunks: int) -> dict[Chunk, float]:
    """When the follower saw each chunk of the openings."""
    seen: dict[Chunk, float] = {}
    async for one in app.debates.follow(id):
        if one.kind == "text":
            now = perf_counter()
            for number in one.facts["text"].split():
                seen[one.facts["participantId"], int(number)] = now
        if len(seen) == count * chunks:
            break
    return seen


async def main(path: Path, count: int, chunks: int, pace_ms: float) -> None:
    """Hold the openings, and say what they took."""
    bench, store = Bench(count, chunks, pace_ms), TimedStore(path)
    async with App(store, models=Models(openers={"scripted": bench.open})) as app:
        watch = Watch(app.runtime.tasks)
        id = await app.debates.create(bench.config())
        store.spans.clear()
        before = process_time()
        await app.debates.start(id)
        seen = await follow(app, id, count, chunks)
        cpu_us = (process_time() - before) / len(seen) * 1e6
        await app.debates.stop(id)
    whole = {(name, number): now - bench.debaters[name].let_go[0][number] for (name, number), now in seen.items()}

    def by_debater(value: Callable[[Chunk], float]) -> list[list[float]]:
        return [[value((name, number)) * 1000 for number in range(chunks)] for name in bench.debaters]

    said = {
        "cpu_us": cpu_us,
        "added_ms": percentiles(by_debater(lambda chunk: whole[chunk] - watch.joining(chunk))),
        "joining_ms": percentiles(by_debater(watch.joining)),
        "whole_ms": percentiles(by_debater(lambda chunk: whole[chunk])),
        "commit_ms": percentiles([store.spans]),
        "chunks_per_entry": len(seen) / len(set(watch.delivered.values())),
    }
    print(json.dumps(said))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
