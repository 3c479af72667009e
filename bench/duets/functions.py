"""Antiphon, the orchestrator alone: its arbiter and its agents are functions, as the peers' nodes are."""

from __future__ import annotations

import json
from typing import Any

from antiphon import create_actor, to_awaitable
from antiphon.actors.tasks import from_task
from antiphon.chart.machine import Machine
from antiphon.machines.orchestrator import orchestrator_machine
from antiphon.runtime.runtime import Runtime
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from duets.script import AGENTS, TASK, Stage, decision, perform, words


def team() -> list[Any]:
    """The two agents."""
    return [{"name": name, "whenToUse": f"as {name}", "systemPrompt": f"You are the {name}."} for name in AGENTS]


def said(result: Any) -> list[str]:
    """All that was said in a run, as its history has it."""
    assert result["success"], result
    return [entry["output"] for entry in result["history"]]


def machine_of(turns: int) -> Machine[Any, Any]:
    """The orchestrator with a function for every service; they read from their input which turn it is."""

    async def decide(input: Any) -> dict[str, Any]:
        return {"decision": json.loads(decision(len(input["history"]), turns))}

    async def speak(input: Any) -> dict[str, Any]:
        turn = int(input["assignments"][0]["turnId"].rstrip("-")) - 1
        return {"agent": input["agent"]["name"], "summary": words(turn)}

    actors = {"arbiterSelectAgent": from_task(decide), "arbiterEvaluate": from_task(decide)}
    return orchestrator_machine.provide(actors={**actors, "agentExecutor": from_task(speak)})


async def without_store(stage: Stage, machine: Machine[Any, Any], input: Any) -> None:
    """The machine as an actor of this process."""

    async def play(number: int) -> list[str]:
        actor = create_actor(machine, input=input)
        ended = to_awaitable(actor)
        actor.start().send({"type": "START_TASK", "task": TASK, "at": 0})
        return said(await ended)

    await stage.play(play)


async def main(stage: Stage, store: str) -> None:
    """With a store, the machine on the runtime: whoever waits for the end of a run follows its journal."""
    machine = machine_of(stage.turns)
    input = {"maxIterations": stage.turns + 1, "agents": team()}
    if store == "none":
        return await without_store(stage, machine, input)
    async with Runtime(MemoryStore() if store == "memory" else SqliteStore(stage.file), [machine]) as runtime:

        async def play(number: int) -> list[str]:
            id = await runtime.create(machine.id, input=input)
            receipt = await runtime.send(id, {"type": "START_TASK", "task": TASK, "at": 0})
            async for entry in runtime.feed(id, receipt.seq - 1):
                for one in entry.emitted:
                    if one["event"]["type"] == "run_ended":
                        return said(one["event"])
            return []

        await stage.play(play)
    return None


if __name__ == "__main__":
    perform(main)
