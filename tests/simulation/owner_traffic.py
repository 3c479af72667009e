"""Traffic of the simulation, and letters to processes that do not know what they have lost."""

import asyncio

from tests.simulation.traffic import EVENTS, traffic

PAUSES_S = (0.02, 0.1, 0.3)
LETTERS = 0.4  # for each look at a former owner
UNKNOWN = 0.6  # of these letters: no transition takes them


async def owner_traffic(world):
    """Run the traffic, and send letters to former owners meanwhile."""
    async with asyncio.TaskGroup() as group:
        disturbing = group.create_task(_disturb(world, group))
        await traffic(world)
        disturbing.cancel()


async def _disturb(world, group):
    while True:
        await asyncio.sleep(world.rng.choice(PAUSES_S))
        for host, root in world.zombies():
            if world.rng.random() < LETTERS and world.last_step(root):
                group.create_task(_call(world, host, root))


async def _call(world, host, root):
    kind = root.removeprefix("fork of ").rstrip("0123456789")
    event = "UNKNOWN" if world.rng.random() < UNKNOWN else world.rng.choice(EVENTS[kind])
    to, _, type = event.rpartition(" ")
    id = f"{type}-{world.new_id()}{to}"
    await world.call_zombie(host, root, {"type": type, "n": id}, id=id, to=to)
