"""Runs of agents: an arbiter selects agents, which ask for permission before they act."""

from typing import TYPE_CHECKING

from antiphon.lazy import lazy_names

if TYPE_CHECKING:
    from antiphon.agents.arbiter import arbiter_evaluates, arbiter_selects
    from antiphon.agents.arbiter_function import Arbiter, RunSituation
    from antiphon.agents.definition import Agent
    from antiphon.agents.errors import BadAgents, FileProblem, InvalidAgent
    from antiphon.agents.files import AgentSet, default_agents, default_files, load_all_agents
    from antiphon.agents.kind import RUN
    from antiphon.agents.machine.agent import agent_machine
    from antiphon.agents.machine.agent_config import AgentConfig
    from antiphon.agents.machine.crew import crew_machine
    from antiphon.agents.machine.orchestrator import orchestrator_machine
    from antiphon.agents.plans import BadPlan, load_plan
    from antiphon.agents.service import Runs
    from antiphon.agents.sessions import close_session

__getattr__ = lazy_names(
    __name__,
    {
        "arbiter": (
            "arbiter_evaluates",
            "arbiter_selects",
        ),
        "arbiter_function": (
            "Arbiter",
            "RunSituation",
        ),
        "definition": ("Agent",),
        "errors": (
            "BadAgents",
            "FileProblem",
            "InvalidAgent",
        ),
        "files": (
            "AgentSet",
            "default_agents",
            "default_files",
            "load_all_agents",
        ),
        "kind": ("RUN",),
        "machine.agent": ("agent_machine",),
        "machine.agent_config": ("AgentConfig",),
        "machine.crew": ("crew_machine",),
        "machine.orchestrator": ("orchestrator_machine",),
        "sessions": ("close_session",),
        "plans": (
            "BadPlan",
            "load_plan",
        ),
        "service": ("Runs",),
    },
)

__all__ = [
    "RUN",
    "Agent",
    "AgentConfig",
    "AgentSet",
    "Arbiter",
    "BadAgents",
    "BadPlan",
    "FileProblem",
    "InvalidAgent",
    "RunSituation",
    "Runs",
    "agent_machine",
    "arbiter_evaluates",
    "arbiter_selects",
    "close_session",
    "crew_machine",
    "default_agents",
    "default_files",
    "load_all_agents",
    "load_plan",
    "orchestrator_machine",
]
