"""Testing support for programs that use Antiphon: a fake model server, recordings, contracts, simulations."""

from typing import TYPE_CHECKING

from antiphon.lazy import lazy_names

if TYPE_CHECKING:
    from antiphon.testing.contracts.providers import ProviderContract
    from antiphon.testing.contracts.stores import StoreContract
    from antiphon.testing.fake_llm.scenarios import SCENARIOS
    from antiphon.testing.fake_llm.server import FakeLLM
    from antiphon.testing.journals import replay_steps
    from antiphon.testing.recorder import Recorder, Replay
    from antiphon.testing.simulation.clients import Client
    from antiphon.testing.simulation.faults import Faults
    from antiphon.testing.simulation.run import LawBroken, SimulationReport, simulate
    from antiphon.testing.simulation.services import (
        simulated_calculation,
        simulated_code,
        simulated_function,
        simulated_stream,
        simulated_task,
    )
    from antiphon.testing.simulation.world import World

__getattr__ = lazy_names(
    __name__,
    {
        "contracts.providers": ("ProviderContract",),
        "contracts.stores": ("StoreContract",),
        "fake_llm.scenarios": ("SCENARIOS",),
        "fake_llm.server": ("FakeLLM",),
        "journals": ("replay_steps",),
        "recorder": (
            "Recorder",
            "Replay",
        ),
        "simulation.clients": ("Client",),
        "simulation.faults": ("Faults",),
        "simulation.run": (
            "LawBroken",
            "SimulationReport",
            "simulate",
        ),
        "simulation.services": (
            "simulated_calculation",
            "simulated_code",
            "simulated_function",
            "simulated_stream",
            "simulated_task",
        ),
        "simulation.world": ("World",),
    },
)

__all__ = [
    "SCENARIOS",
    "Client",
    "FakeLLM",
    "Faults",
    "LawBroken",
    "ProviderContract",
    "Recorder",
    "Replay",
    "SimulationReport",
    "StoreContract",
    "World",
    "replay_steps",
    "simulate",
    "simulated_calculation",
    "simulated_code",
    "simulated_function",
    "simulated_stream",
    "simulated_task",
]
