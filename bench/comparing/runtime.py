"""Figures of the runtime: durable events, many actors at once, restoring, and the orchestrator without a store."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from antiphon import create_actor, to_awaitable
from comparing.engine import Play, Prepare
from comparing.names import locate
from duets.crew import services, team
from duets.script import TASK, speeches
from durable.charts import two_steps

BUSY = 16  # actors at once
TREES, STEPS = 32, 98  # to restore, and the steps of each: all of them are replayed, as no snapshot is due yet
TURNS = 10  # that the orchestrator gives in an iteration
GO = {"type": "GO"}


async def start_runtime(store: str, path: Path) -> Any:
    """Start a runtime on a store of that kind."""
    opened = locate("MemoryStore")() if store == "memory" else locate("SqliteStore")(path)
    return await locate("Runtime")(opened, [two_steps()]).start()


async def prepare_events(store: str, actors: int, folder: Path) -> Play:
    """Send an event to each of so many actors per iteration, and wait until it is stored."""
    runtime = await start_runtime(store, folder / f"events-{actors}.db")
    roots = [await runtime.create("loop") for _ in range(actors)]

    async def insist(root: str, events: int) -> None:
        for _ in range(events):
            receipt = await runtime.send(root, GO)
            assert receipt.status == "accepted"

    async def play(iterations: int) -> None:
        await asyncio.gather(*(insist(root, iterations) for root in roots))

    await play(STEPS)
    snapshot = await runtime.snapshot(roots[-1])
    assert snapshot["context"] == {"n": STEPS}
    return play


async def prepare_restoring(folder: Path) -> Play:
    """Restore a tree from a file per iteration; a runtime that has restored all of them makes way for a fresh one."""
    path = folder / "restoring.db"
    runtime = await start_runtime("sqlite", path)
    roots = [await runtime.create("loop") for _ in range(TREES)]
    for _ in range(STEPS):
        await asyncio.gather(*(runtime.send(root, GO) for root in roots))
    unrestored: list[str] = []

    async def play(iterations: int) -> None:
        nonlocal runtime
        for _ in range(iterations):
            if not unrestored:
                await runtime.stop()
                runtime = await start_runtime("sqlite", path)
                unrestored.extend(roots)
            snapshot = await runtime.snapshot(unrestored.pop())
            assert snapshot["context"] == {"n": STEPS}

    return play


async def prepare_orchestrator(folder: Path) -> Play:
    """Run the orchestrator to its end per iteration, with functions that answer at once, as an actor of the process."""
    machine = locate("orchestrator_machine").provide(actors=services(TURNS, is_speaker_eager=True))
    input = {"maxIterations": TURNS + 1, "agents": team()}
    wanted = list(speeches(TURNS))

    async def play(iterations: int) -> None:
        for _ in range(iterations):
            actor = create_actor(machine, input=input)
            ended = to_awaitable(actor)
            actor.start().send({"type": "START_TASK", "task": TASK, "at": 0})
            await ended
            assert [entry["output"] for entry in actor.get_snapshot().context["history"]] == wanted

    return play


FIGURES: dict[str, Prepare] = {
    "durable event, memory": partial(prepare_events, "memory", 1),
    "durable event, SQLite": partial(prepare_events, "sqlite", 1),
    f"{BUSY} busy actors, SQLite": partial(prepare_events, "sqlite", BUSY),
    "restore a tree, SQLite": prepare_restoring,
    "orchestrator, no store": prepare_orchestrator,
}
