"""Antiphon, the orchestrator alone: its arbiter and its agents are functions, as the peers' nodes are."""

from __future__ import annotations

from antiphon.agents.machine.orchestrator import orchestrator_machine
from duets.crew import services, team
from duets.hosted import perform_on
from duets.script import TASK, Stage, perform


async def main(stage: Stage, store: str) -> None:
    """Let the machine play."""
    machine = orchestrator_machine.provide(actors=services(stage.turns))
    input = {"maxIterations": stage.turns + 1, "agents": team()}
    await perform_on(stage, store, machine, input, {"type": "START_TASK", "task": TASK, "at": 0})


if __name__ == "__main__":
    perform(main)
