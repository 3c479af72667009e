"""One simulated run: traffic under faults, then calm, then the laws."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.runtime.store import Store
from antiphon.stores.memory import MemoryStore
from antiphon.testing.laws import broken_laws
from antiphon.testing.simulation.faults import Faults
from antiphon.testing.simulation.loop import SimulatedLoop, Stalled, first
from antiphon.testing.simulation.world import WORLD, World

STORM_S, LIMIT_S, REST_S, MOST_CALLBACKS = 20.0, 900.0, 600.0, 300_000

Traffic = Callable[[World], Awaitable[None]]
Check = Callable[[World], Awaitable[list[str]]]


class Broken(AssertionError):
    """A law was broken; the seed gives the same run again."""

    def __init__(self, seed: int, laws: list[str], world: World) -> None:
        lines = [f"{at:>8} ms  {text}" for at, text in world.trace[-80:]]
        super().__init__("\n".join([f"seed {seed}:", *laws[:10], "the end of the trace:", *lines]))
        self.seed, self.laws, self.world = seed, laws, world


@dataclass(frozen=True, slots=True)
class Report:
    """What a run was like."""

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
) -> Report:
    """Run traffic in a world that follows from a seed; raises `Broken` if a law does not hold in the end."""
    dice = Random(seed)
    faults = faults or Faults.drawn(dice)
    world = World(dice, machines, store(), faults)
    loop = SimulatedLoop(dice.randrange if faults.disorder else first, most=MOST_CALLBACKS)
    try:
        laws = loop.run_until_complete(_run(world, traffic, check))
    except Stalled as error:
        laws = [*world.history.broken, str(error)]
    finally:
        loop.dispose()
    if laws:
        raise Broken(seed, laws, world)
    return Report(seed, world.history.counts, world.trace)


async def _run(world: World, traffic: Traffic, check: Check | None) -> list[str]:
    WORLD.set(world)
    loop = asyncio.get_running_loop()
    world.begin()
    loop.call_later(STORM_S, world.calm)
    try:
        await asyncio.wait_for(traffic(world), LIMIT_S)
    except TimeoutError:
        return [*world.history.broken, "the traffic did not come to its end"]
    world.calm()
    for _ in range(2):  # as it is, and after a restart that was asked for
        await world.up()
        await asyncio.sleep(REST_S)
        laws = [*world.history.broken, *await broken_laws(world.runtime, world.store), *await _shown(world)]
        if check is not None:
            laws += await check(world)
        if laws:
            return laws
        await world.stop()
    world.history.counts["virtual seconds"] += int(loop.time())
    return []


async def _shown(world: World) -> list[str]:
    """Whether what was stored is what was seen being stored, and what the feeds gave."""
    found = []
    for root, journal in world.history.journals.items():
        if await world.store.entries(root, 0, len(journal) + 1) != journal:
            found.append(f"{root}: the journal is not what was stored")
        if world.history.fed.get(root, 0) != len(journal):
            found.append(f"{root}: the feed ended at {world.history.fed.get(root, 0)} of {len(journal)}")
    return found
