"""Antiphon, the chart with coroutines for the arbiter and the agents: every answer is waited for, and stored apart."""

from __future__ import annotations

from typing import Any

from antiphon import from_task
from duets import chart
from duets.hosted import perform_on
from duets.script import Stage, perform


async def decide(input: Any) -> Any:
    """Ask the arbiter's model, and take its decision."""
    return chart.decide(input)


async def speak(input: Any) -> str:
    """One of the agents asks its model."""
    return chart.speak(input)


async def main(stage: Stage, store: str) -> None:
    """Let the machine play."""
    await perform_on(stage, store, chart.machine(from_task(decide), from_task(speak)), {"turns": stage.turns})


if __name__ == "__main__":
    perform(main)
