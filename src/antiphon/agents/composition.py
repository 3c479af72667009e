"""Composition of a run: orchestrator ⊃ crew ⊃ agent ⊃ reply and tools."""

from collections.abc import Callable
from typing import Any

from antiphon.agents.arbiter import arbiter_evaluates, arbiter_selects
from antiphon.agents.arbiter_function import Arbiter, arbiter_by_function
from antiphon.agents.machine.agent import agent_machine
from antiphon.agents.machine.crew import crew_machine
from antiphon.agents.machine.orchestrator import orchestrator_machine
from antiphon.chart.machine import Machine
from antiphon.providers.base import Provider
from antiphon.providers.prices import Prices


def compose_run(
    open_model: Callable[[str], Provider], *, prices: Prices, reply: Any, tools: Any, arbiter: Arbiter | None = None
) -> Machine[Any, Any]:
    """Return the machine to provide as the thread's actor `run`."""
    if arbiter is None:
        selects = arbiter_selects(open_model, prices)
        evaluates = arbiter_evaluates(open_model, prices)
    else:
        selects = arbiter_by_function(arbiter, is_evaluation=False)
        evaluates = arbiter_by_function(arbiter, is_evaluation=True)
    agent = agent_machine.provide(actors={"reply": reply, "tools": tools})
    return orchestrator_machine.provide(
        actors={
            "arbiterSelectAgent": selects,
            "arbiterEvaluate": evaluates,
            "agentExecutor": crew_machine.provide(actors={"agent": agent}),
        }
    )
