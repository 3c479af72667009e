"""A machine of ours on the stage: as an actor of the process, or on the runtime with a store."""

from __future__ import annotations

from typing import Any

from antiphon import create_actor, to_awaitable
from antiphon.chart.machine import Machine
from antiphon.runtime.runtime import Runtime
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from duets.script import Stage


async def perform_on(stage: Stage, store: str, machine: Machine[Any, Any], input: Any, start: Any = None) -> None:
    """Play a machine whose context has the history with all that was said; some wait for an event to start them."""
    if store == "none":
        return await _as_actor(stage, machine, input, start)
    async with Runtime(MemoryStore() if store == "memory" else SqliteStore(stage.file), [machine]) as runtime:

        async def play(number: int) -> list[str]:
            id = await runtime.create(machine.id, input=input)
            if start is not None:
                await runtime.send(id, start)
            await runtime.output(id)
            return said((await runtime.snapshot(id))["context"])

        await stage.play(play)
    return None


async def _as_actor(stage: Stage, machine: Machine[Any, Any], input: Any, start: Any) -> None:
    async def play(number: int) -> list[str]:
        actor = create_actor(machine, input=input)
        ended = to_awaitable(actor)
        actor.start()
        if start is not None:
            actor.send(start)
        await ended
        return said(actor.get_snapshot().context)

    await stage.play(play)


def said(context: Any) -> list[str]:
    """All that was said, as the history has it."""
    return [entry["output"] for entry in context["history"]]
