"""Waiting for what a root actor gives at its end."""

import asyncio

import pytest

from antiphon import assign, create_machine, from_task
from antiphon.runtime.errors import Failed, NotRunning, Quarantined, UnknownRoot
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import runtime, simulate


def refuse(context, event):
    raise ValueError("no such luck")


ending = create_machine(
    {
        "id": "ending",
        "initial": "on",
        "context": {"n": 0},
        "output": lambda context: context["n"],
        "on": {"ADD": {"actions": "add"}, "FAIL": ".failing", "WAIT": ".waiting"},
        "states": {
            "on": {"on": {"END": "off"}},
            "off": {"type": "final"},
            "failing": {"invoke": {"src": "refuse"}},
            "waiting": {"after": {1000: {"target": "on", "actions": "refuse"}}},
        },
    },
    actions={"add": assign({"n": lambda context: context["n"] + 1}), "refuse": assign(refuse)},
    actors={"refuse": from_task(lambda: refuse(None, None))},
)


def test_the_output_of_a_root_actor_is_waited_for():
    async def main():
        async with runtime(MemoryStore(), ending) as host:
            root = await host.create("ending")
            waiting = [asyncio.create_task(host.output(root)) for _ in range(2)]
            await host.send(root, {"type": "ADD"})
            assert not any(waiter.done() for waiter in waiting)
            await host.send(root, {"type": "END"})
            assert await asyncio.gather(*waiting) == [1, 1]

    simulate(main)


def test_an_output_is_known_after_the_end_and_in_later_processes():
    async def main():
        store = MemoryStore()
        async with runtime(store, ending) as host:
            root = await host.create("ending")
            await host.send(root, {"type": "END"})
            assert await host.output(root) == 0
        async with runtime(store, ending) as host:
            assert await host.output(root) == 0

    simulate(main)


def test_a_root_actor_that_fails_has_no_output():
    async def main():
        async with runtime(MemoryStore(), ending) as host:
            root = await host.create("ending")
            waiting = asyncio.create_task(host.output(root))
            await asyncio.sleep(0)
            await host.send(root, {"type": "FAIL"})
            with pytest.raises(Failed, match="no such luck"):
                await waiting

    simulate(main)


def test_nobody_waits_for_an_output_that_cannot_come():
    async def main():
        host = await runtime(MemoryStore(), ending).start()
        with pytest.raises(UnknownRoot):
            await host.output("nobody")
        waiting = asyncio.create_task(host.output(await host.create("ending")))
        await asyncio.sleep(0)
        await host.stop()
        with pytest.raises(NotRunning):
            await waiting

    simulate(main)


def test_waiting_for_a_tree_that_is_quarantined_fails():
    async def main():
        async with runtime(MemoryStore(), ending) as host:
            root = await host.create("ending")
            waiting = asyncio.create_task(host.output(root))
            await host.send(root, {"type": "WAIT"})
            with pytest.raises(Quarantined, match="no such luck"):
                await waiting

    simulate(main)
