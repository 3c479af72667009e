"""Actors of one tree that send to each other, at once and later, are the same after a restart and in one process."""

import asyncio
from random import Random

import pytest

from antiphon import assign, create_machine, send_parent, send_to
from antiphon.stores.memory import MemoryStore
from tests.fixtures.runtime import crash, runtime, simulate

TYPES = ("A", "B", "C", "D")  # each is answered by a later one only, so that every step ends
ADDRESSES = ("", "one", "two")


def make_family(random):
    """Return the reactions of a root and two children to events, many of which one of them ignores."""
    return {address: {type: make_reaction(random) for type in TYPES if random.random() < 0.5} for address in ADDRESSES}


def make_reaction(random):
    """Return what an actor does with an event."""
    sends = [(random.choice(ADDRESSES), random.choice((1, 2)), random.choice((None, None, 5))) for _ in range(2)]
    return {"counts": random.random() < 0.5, "moves": random.random() < 0.2, "sends": sends}


def make_steps(random):
    """Return events from outside, each with its recipient and a time to wait."""
    return [(random.choice(ADDRESSES), random.choice(TYPES), random.choice((0, 3, 30))) for _ in range(6)]


def make_chart(address, reactions):
    """Return the chart of an actor; a child sends to its parent only."""
    events = {}
    for type, reaction in reactions.items():
        actions = [assign({"n": lambda context, event: context["n"] + 1})] if reaction["counts"] else []
        for to, distance, delay in reaction["sends"]:
            later = TYPES[TYPES.index(type) + distance :]
            options = {} if delay is None else {"delay": delay}
            if later and to != address:
                is_up = address != ""
                event = {"type": later[0]}
                actions.append(send_parent(event, **options) if is_up else send_to(to, event, **options))
        target = {"target": "other"} if reaction["moves"] else {}
        events[type] = {"actions": actions, **target}
    states = {"first": {"on": events}, "other": {}}
    return {"id": address or "root", "context": {"n": 0}, "initial": "first", "states": states}


def make_machine(family):
    """Return the machine of a root with two children."""
    children = {name: create_machine(make_chart(name, family[name])) for name in ADDRESSES[1:]}
    invokes = [{"src": name, "id": name} for name in children]
    return create_machine({**make_chart("", family[""]), "invoke": invokes}, actors=children)


def facts(snapshot):
    """Return the states and counts of the root and its children."""
    children = [child["snapshot"] for child in snapshot["children"].values()]
    return [(each["value"], each["context"]["n"]) for each in (snapshot, *children)]


async def play(family, steps, *, restarts):
    """Send events, and kill the runtime after each; return what was seen."""
    store = MemoryStore()
    machine = make_machine(family)
    host = await runtime(store, machine).start()
    await host.create("root", root="a")
    seen = []
    for to, type, wait_ms in steps:
        receipt = await host.send("a", {"type": type}, to=to)
        await asyncio.sleep(wait_ms / 1000)
        seen.append((receipt.status, facts(await host.snapshot("a"))))
        if restarts:
            crash(host)
            host = await runtime(store, machine).start()
            seen.append((receipt.status, facts(await host.snapshot("a"))))
    await asyncio.sleep(1)
    seen.append(facts(await host.snapshot("a")))
    crash(host)
    return seen


@pytest.mark.parametrize("seed", range(150))
def test_actors_that_send_to_each_other_are_the_same_after_a_restart(seed):
    random = Random(seed)
    family = make_family(random)
    steps = make_steps(random)

    restarted = simulate(lambda: play(family, steps, restarts=True))
    whole = simulate(lambda: play(family, steps, restarts=False))

    assert restarted[:-1:2] == restarted[1:-1:2]
    assert restarted[:-1:2] + restarted[-1:] == whole
