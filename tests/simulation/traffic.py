"""Scripted traffic over the machines of the simulation, and what must be true of their contexts afterwards."""

import asyncio

from antiphon.testing.simulation.clients import Client
from tests.simulation.machines import DELTAS

# How often each event is sent; NOTE is always taken, the others depend on the state.
EVENTS = {
    "caller": ("NOTE", "GO_REPORT", "GO_REPORT", "GO_ONCE", "GO_ONCE", "GO_REPEAT", "GO_REPEAT", "CANCEL"),
    "alarm": ("NOTE", "ARM", "ARM", "ARM", "DISARM", "PLAN", "PLAN", "UNPLAN"),
    "parent": ("NOTE", "START", "START", "ABORT", "SPAWN", "DISMISS", "kid NOTE"),
}


async def traffic(world):
    """A few clients, each with a tree of its own and now and then a letter for another."""
    kinds = [world.dice.choice(list(EVENTS)) for _ in range(world.dice.randint(1, 4))]
    roots = [(f"{kind}{i}", kind) for i, kind in enumerate(kinds)]
    letters = world.dice.randint(30, 60) // len(roots)
    await asyncio.gather(*(_talk(world, roots, i, letters) for i in range(len(roots))))


async def _talk(world, roots, own, letters):
    client, dice = Client(world), world.dice
    root, kind = roots[own]
    await client.create(kind, root)
    for _ in range(letters):
        type = dice.choice(EVENTS[kind])
        to, _, type = type.rpartition(" ")
        id = f"{type}-{world.new_id()}{to}"
        await client.send(root, {"type": type, "n": id}, id=id, to=to)
        await asyncio.sleep(dice.choice((0.0, 0.0, 0.02, 0.1, 0.1, 0.3)))


async def check(world):
    """What is wrong with the contexts."""
    found = []
    for root, journal in world.history.journals.items():
        context = (await world.runtime.snapshot(root))["context"]
        applied = [entry.event["n"] for entry in journal if entry.to == "" and entry.event["type"] == "NOTE"]
        if context["notes"] != applied:
            found.append(f"{root}: has notes {context['notes']}, and {applied} were applied")
        found += CHECKS[root.rstrip("0123456789")](root, context, journal)
    return found + [
        f"{root}: letter {id} was posted and is not in the journal"
        for root, id in sorted(world.history.posted)
        if id.startswith("NOTE") and not id.endswith("kid") and id not in _applied(world.history.journals[root])
    ]


def _applied(journal):
    return {entry.letter for entry in journal}


def _caller(root, context, journal):
    calls = [entry.event["n"] for entry in journal if entry.event["type"].startswith("GO_")]
    text = "".join(f"{i + 1};" for i in range(DELTAS))
    found = []
    open = [] if context["call"] is None else [context["call"]]
    if [call for call, _, _ in context["outcomes"]] + open != calls:
        found.append(f"{root}: calls {calls} had the outcomes {context['outcomes']}, and {context['call']} is open")
    for call, how, said in context["outcomes"]:
        if how == "a stranger's result":
            found.append(f"{root}: call {call} got a stranger's result")
        if not text.startswith(said) or (how == "done" and said not in ("", text)):
            found.append(f"{root}: call {call} ended as {how} and said {said!r}")
    return found


def _alarm(root, context, journal):
    ends = context["fired"] + context["rearmed"] + context["disarmed"]
    return [] if context["armed"] == ends else [f"{root}: was armed {context['armed']} times: {context}"]


def _parent(root, context, journal):
    ends = context["done"] + context["aborted"]
    return [] if context["started"] == ends else [f"{root}: started {context['started']} children: {context}"]


CHECKS = {"caller": _caller, "alarm": _alarm, "parent": _parent}
