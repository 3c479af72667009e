"""One simulated run of several owners on one store: traffic under faults, a quiet time, then checks of the laws."""

import asyncio
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.runtime.runtime import Runtime
from antiphon.runtime.store import Store
from antiphon.stores.memory import MemoryStore
from antiphon.testing.laws import broken_laws
from antiphon.testing.simulation.owner_faults import OwnerFaults
from antiphon.testing.simulation.owners import SharedWorld
from antiphon.testing.simulation.run import FAULTS_S, LIMIT_S, REST_S, Check, SimulationReport, Traffic, run_world
from antiphon.testing.simulation.world import WORLD

MAX_CALLBACKS = 600_000


def simulate_owners(
    seed: int,
    machines: Iterable[Machine[Any, Any]],
    traffic: Traffic,
    *,
    check: Check | None = None,
    faults: OwnerFaults | None = None,
    store: Callable[[], Store] = MemoryStore,
) -> SimulationReport:
    """Run traffic on two owners of one store; raise `LawBroken` if a law does not hold at the end."""
    rng = Random(seed)
    faults = faults or OwnerFaults.draw(rng)
    world = SharedWorld(rng, machines, store(), faults)
    return run_world(seed, world, _run(world, traffic, check))


async def _run(world: SharedWorld, traffic: Traffic, check: Check | None) -> list[str]:
    WORLD.set(world)
    loop = asyncio.get_running_loop()
    world.start()
    loop.call_later(FAULTS_S, world.stop_faults)
    try:
        await asyncio.wait_for(traffic(world), LIMIT_S)
    except TimeoutError:
        return [*world.history.broken, "the traffic did not end"]
    world.stop_faults()
    await asyncio.sleep(REST_S)
    laws = await _check(world, check)
    if laws:
        return laws
    for host in world.hosts:  # every tree moves once more, in good order
        await host.stop()
        await asyncio.sleep(REST_S)
    laws = await _check(world, check)
    world.history.counts["virtual seconds"] += int(loop.time())
    return laws


async def _check(world: SharedWorld, check: Check | None) -> list[str]:
    """Return a description of every violation of the laws."""
    broken = [*world.history.broken, *_check_owners(world)]
    for host in world.hosts:
        roots = world.directory.roots_of(host.process.number)
        broken += await broken_laws(host.runtime, world.store, roots=roots)
    for root, journal in world.history.journals.items():
        if await world.store.entries(root, 0, len(journal) + 1) != journal:
            broken.append(f"{root}: the journal is not what was stored")
        if world.history.fed.get(root, 0) != len(journal):
            broken.append(f"{root}: the feed ended at {world.history.fed.get(root, 0)} of {len(journal)}")
    return broken if check is None or broken else await check(world)


def _check_owners(world: SharedWorld) -> list[str]:
    """Check that every tree has one owner, and that no other process has anything of it."""
    broken = []
    numbers = {host.process.number for host in world.hosts if host.is_up}
    for root in world.history.journals:
        assignment = world.directory.owner(root)
        if assignment is None or assignment.process not in numbers:
            broken.append(f"{root}: has no owner")
            continue
        for host in world.hosts:
            is_owner = host.process.number == assignment.process
            known = host.ownership.tenure(root)
            if known != (assignment.tenure if is_owner else None):
                broken.append(f"{root}: {assignment}, and process {host.process.number} knows tenure {known}")
            if not is_owner:
                broken += [f"{root}: process {host.process.number} {text}" for text in _remains(host.runtime, root)]
    return broken


def _remains(runtime: Runtime, root: str) -> list[str]:
    """Return what a process still has of a tree that it does not own."""
    tasks = [id for id, (_, scope) in runtime.tasks._running.items() if scope.task.root == root]
    remains = {
        "keeps its tree": runtime.trees.get(root) is not None,
        "keeps letters for it": runtime.inboxes.has(root),
        f"runs its tasks {tasks}": bool(tasks),
    }
    return [text for text, is_true in remains.items() if is_true]
