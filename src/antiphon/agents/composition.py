"""Composition of a run: orchestrator ⊃ crew ⊃ agent ⊃ reply and tools."""

from collections.abc import Callable
from typing import Any, NamedTuple

from antiphon.agents.arbiter import arbiter_evaluates, arbiter_selects
from antiphon.agents.arbiter_function import Arbiter, arbiter_by_function
from antiphon.agents.machine.agent import agent_machine
from antiphon.agents.machine.crew import crew_machine
from antiphon.agents.machine.orchestrator import orchestrator_machine
from antiphon.agents.machine.version_1.agent import agent_machine_1
from antiphon.agents.machine.version_1.migration import CHANGES
from antiphon.agents.machine.version_1.orchestrator import crew_machine_1, orchestrator_machine_1
from antiphon.agents.sessions import close_by
from antiphon.chart.machine import Machine
from antiphon.providers.base import Provider
from antiphon.providers.prices import Prices

AnyMachine = Machine[Any, Any]


class RunMachines(NamedTuple):
    """The machines of a run in one version."""

    orchestrator: AnyMachine = orchestrator_machine
    crew: AnyMachine = crew_machine
    agent: AnyMachine = agent_machine


CURRENT = RunMachines()
MIGRATION = CHANGES
VERSION_1 = RunMachines(orchestrator_machine_1, crew_machine_1, agent_machine_1)


def compose_run(
    open_session: Callable[[str, str], Provider],
    *,
    close_session: Callable[[str], None],
    prices: Prices,
    reply: Any,
    tools: Any,
    arbiter: Arbiter | None = None,
    machines: RunMachines = CURRENT,
) -> AnyMachine:
    """Return the machine to provide as the thread's actor `run`.

    The first request of a session opens it; `close_session` is called with the ids of sessions that have ended.
    """
    if arbiter is None:
        selects = arbiter_selects(open_session, prices)
        evaluates = arbiter_evaluates(open_session, prices)
    else:
        selects = arbiter_by_function(arbiter, is_evaluation=False)
        evaluates = arbiter_by_function(arbiter, is_evaluation=True)
    agent = machines.agent.provide(actors={"reply": reply, "tools": tools})
    return machines.orchestrator.provide(
        actors={
            "arbiterSelectAgent": selects,
            "arbiterEvaluate": evaluates,
            "agentExecutor": machines.crew.provide(actors={"agent": agent}),
        },
        actions={} if machines is VERSION_1 else {"cleanupSession": close_by(close_session)},
    )
