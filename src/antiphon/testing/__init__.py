"""Testing support for programs that use Antiphon: walks through machines, fake models, recordings, simulations."""

from typing import TYPE_CHECKING

from antiphon.lazy import lazy_names

if TYPE_CHECKING:
    from antiphon.testing.charts.contracts import ContractBroken, StateContract, TransitionContract
    from antiphon.testing.charts.monitor import ContractMonitor
    from antiphon.testing.charts.paths import (
        AsyncHandlerError,
        MissingHandler,
        PathHandlers,
        follow_path,
        follow_path_async,
        test_paths,
        test_paths_async,
    )
    from antiphon.testing.charts.strategies import walks
    from antiphon.testing.charts.walk import Walk, WalkFailed, run_walk
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
        "charts.contracts": ("ContractBroken", "StateContract", "TransitionContract"),
        "charts.monitor": ("ContractMonitor",),
        "charts.paths": (
            "AsyncHandlerError",
            "MissingHandler",
            "PathHandlers",
            "follow_path",
            "follow_path_async",
            "test_paths",
            "test_paths_async",
        ),
        "charts.strategies": ("walks",),
        "charts.walk": ("Walk", "WalkFailed", "run_walk"),
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
    "AsyncHandlerError",
    "Client",
    "ContractBroken",
    "ContractMonitor",
    "FakeLLM",
    "Faults",
    "LawBroken",
    "MissingHandler",
    "PathHandlers",
    "ProviderContract",
    "Recorder",
    "Replay",
    "SimulationReport",
    "StateContract",
    "StoreContract",
    "TransitionContract",
    "Walk",
    "WalkFailed",
    "World",
    "follow_path",
    "follow_path_async",
    "replay_steps",
    "run_walk",
    "simulate",
    "simulated_calculation",
    "simulated_code",
    "simulated_function",
    "simulated_stream",
    "simulated_task",
    "test_paths",
    "test_paths_async",
    "walks",
]
