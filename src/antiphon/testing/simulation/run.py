"""One simulated run: traffic under faults, then a quiet time without faults, then checks of the laws."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.runtime.errors import Quarantined, RuntimeFault
from antiphon.runtime.quarantine import QUARANTINED
from antiphon.runtime.store import Store
from antiphon.stores.memory import MemoryStore
from antiphon.testing.laws import broken_laws
from antiphon.testing.simulation.faults import Faults
from antiphon.testing.simulation.loop import SimulatedLoop, Stalled, first
from antiphon.testing.simulation.projection import StateProjection
from antiphon.testing.simulation.world import WORLD, World

FAULTS_S = 20.0  # how long faults are injected
LIMIT_S = 900.0  # how long the traffic may take
REST_S = 600.0  # quiet time before the laws are checked
MAX_CALLBACKS = 300_000

Traffic = Callable[[World], Awaitable[None]]
Check = Callable[[World], Awaitable[list[str]]]


class LawBroken(AssertionError):
    """A run broke a law; its seed reproduces it."""

    def __init__(self, seed: int, laws: list[str], world: World) -> None:
        lines = [f"{at:>8} ms  {text}" for at, text in world.trace[-80:]]
        super().__init__("\n".join([f"seed {seed}:", *laws[:10], "the end of the trace:", *lines]))
        self.seed = seed
        self.laws = laws
        self.world = world


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """Counts and trace of a run."""

    seed: int
    counts: Counter[str]
    trace: list[tuple[int, str]]


def simulate(
    seed: int,
    machines: Iterable[Machine[Any, Any]],
    traffic: Traffic,
    *,
    check: Check | None = None,
    faults: Faults | None = None,
    store: Callable[[], Store] = MemoryStore,
    restores: bool = False,
    releases: Iterable[Iterable[Machine[Any, Any]]] = (),
) -> SimulationReport:
    """Run traffic in a world determined by a seed; raise `LawBroken` if a law does not hold at the end.

    Between processes, the machines of `releases` are deployed, which run beside those of before.
    With `restores`, earlier backups of the store are restored: then letters that were acknowledged may be lost.
    """
    rng = Random(seed)
    faults = faults or Faults.draw(rng)
    if faults.restore and not restores:
        faults = replace(faults, restore=0.0)
    own = list(machines)
    world = World(rng, own, store(), faults, releases, StateProjection([machine.id for machine in own]))
    return run_world(seed, world, _run(world, traffic, check))


def run_world(seed: int, world: World, run: Coroutine[Any, Any, list[str]]) -> SimulationReport:
    """Run a world on a loop of its own; raise `LawBroken` if the run returns broken laws."""
    loop = SimulatedLoop(world.rng.randrange if world.faults.disorder else first, limit=MAX_CALLBACKS)
    try:
        laws = loop.run_until_complete(run)
    except Stalled as error:
        laws = [*world.history.broken, str(error)]
    finally:
        loop.dispose()
    if laws:
        raise LawBroken(seed, laws, world)
    return SimulationReport(seed, world.history.counts, world.trace)


async def _run(world: World, traffic: Traffic, check: Check | None) -> list[str]:
    WORLD.set(world)
    loop = asyncio.get_running_loop()
    world.start()
    loop.call_later(FAULTS_S, world.stop_faults)
    try:
        await asyncio.wait_for(traffic(world), LIMIT_S)
    except TimeoutError:
        return [*world.history.broken, "the traffic did not end"]
    except RuntimeFault as error:
        return [*world.history.broken, f"a call raised {error!r}"]
    world.stop_faults()
    for _ in range(2):  # in the last process, and after an orderly restart
        await world.wait_for_runtime()
        await asyncio.sleep(REST_S)
        await asyncio.sleep(REST_S if await _set_going(world) else 1.0)
        try:
            laws = await _check(world, check)
        except RuntimeFault as error:
            laws = [*world.history.broken, f"the laws could not be checked: {error!r}"]
        if laws:
            return laws
        await world.stop()
    world.history.counts["virtual seconds"] += int(loop.time())
    return []


async def _check(world: World, check: Check | None) -> list[str]:
    """Return a description of every violation of the laws by a world at rest."""
    laws = [*world.history.broken, *world.history.overtaken(), *await broken_laws(world.runtime, world.store)]
    laws += [*await _check_journals(world), *await _check_outcomes(world)]
    return laws if check is None else [*laws, *await check(world)]


async def _set_going(world: World) -> int:
    """Release trees and retry letters that were set aside, as an operator does; return how many there were."""
    runtime = world.runtime
    for summary in await world.store.roots():
        with suppress(Quarantined):
            await runtime.snapshot(summary.root)  # which migrates the tree
    released = [summary.root for summary in await world.store.roots() if summary.status == QUARANTINED]
    for root in released:
        await runtime.release(root)
    dead = [letter for summary in await world.store.roots() for letter, _ in await runtime.dead_letters(summary.root)]
    for letter in dead:
        await runtime.retry(letter.root, letter.id)
    world.history.counts["trees released"] += len(released)
    world.history.counts["letters retried"] += len(dead)
    return len(released) + len(dead)


async def _check_outcomes(world: World) -> list[str]:
    """Check that each posted letter has an outcome, and that it agrees with the journal."""
    history = world.history
    broken = []
    for root, id in sorted(history.posted):
        receipt = await world.runtime.outcome(root, id)
        status = "unknown" if receipt is None else receipt.status
        seq = history.applied.get((root, id))
        if status not in ("accepted", "rejected") or (status == "accepted") != (seq is not None):
            broken.append(f"{root}: letter {id} was posted, its outcome is {status}, and it is at step {seq}")
    return broken


async def _check_journals(world: World) -> list[str]:
    """Compare the stored journals with the commits that were recorded and with the feeds."""
    broken = []
    for root, journal in world.history.journals.items():
        if await world.store.entries(root, 0, len(journal) + 1) != journal:
            broken.append(f"{root}: the journal is not what was stored")
        if world.history.fed.get(root, 0) != len(journal):
            broken.append(f"{root}: the feed ended at {world.history.fed.get(root, 0)} of {len(journal)}")
        saved = await world.store.load(root)
        if saved is not None:
            broken += world.history.late_timers(saved.letters, int(asyncio.get_running_loop().time() * 1000))
    return broken
