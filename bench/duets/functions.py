"""Antiphon, the orchestrator alone: its arbiter and its agents are functions, as the peers' nodes are."""

from __future__ import annotations

import json
from typing import Any

from antiphon.actors.tasks import from_task
from antiphon.agents.machine.orchestrator import orchestrator_machine
from antiphon.chart.machine import Machine
from duets.hosted import perform_on
from duets.script import AGENTS, TASK, Stage, decision, perform, words


def team() -> list[Any]:
    """The two agents."""
    return [{"name": name, "whenToUse": f"as {name}", "systemPrompt": f"You are the {name}."} for name in AGENTS]


def machine_of(turns: int) -> Machine[Any, Any]:
    """The orchestrator with a function for every service; they read from their input which turn it is."""

    def decide(input: Any) -> dict[str, Any]:
        return {"decision": json.loads(decision(len(input["history"]), turns))}

    def speak(input: Any) -> dict[str, Any]:
        turn = int(input["assignments"][0]["turnId"].rstrip("-")) - 1
        return {"agent": input["agent"]["name"], "summary": words(turn)}

    arbiter = from_task(decide, eager=True)
    actors = {"arbiterSelectAgent": arbiter, "arbiterEvaluate": arbiter}
    return orchestrator_machine.provide(actors={**actors, "agentExecutor": from_task(speak)})


async def main(stage: Stage, store: str) -> None:
    """Let the machine play."""
    input = {"maxIterations": stage.turns + 1, "agents": team()}
    await perform_on(stage, store, machine_of(stage.turns), input, {"type": "START_TASK", "task": TASK, "at": 0})


if __name__ == "__main__":
    perform(main)
