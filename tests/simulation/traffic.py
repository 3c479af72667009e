"""Scripted traffic over the machines of the simulation, and checks of their contexts afterwards."""

import asyncio

from antiphon.testing.simulation.clients import Client
from tests.simulation.machines import CALLS, DELTAS

# Each as often as it stands there; NOTE is always taken, the others depend on the state.
EVENTS = {
    "caller": ("NOTE", "CANCEL", *(f"GO_{call.upper()}" for call in (*CALLS, "report", "once", "stream"))),
    "alarm": ("NOTE", "ARM", "ARM", "ARM", "DISARM", "PLAN", "PLAN", "UNPLAN"),
    "starter": ("NOTE", "AGAIN"),
    "parent": ("NOTE", "START", "START", "ABORT", "SPAWN", "DISMISS", "kid NOTE"),
}
FORKS = 0.3  # of the conversations end with a fork
TEXT = "".join(f"{number + 1};" for number in range(DELTAS))


async def traffic(world):
    """Run a few clients concurrently, each with a tree of its own."""
    kinds = [world.rng.choice(list(EVENTS)) for _ in range(world.rng.randint(1, 4))]
    letters = world.rng.randint(15, 45) // len(kinds)
    await asyncio.gather(*(_talk(world, f"{kind}{i}", kind, letters) for i, kind in enumerate(kinds)))


async def _talk(world, root, kind, letters):
    client = Client(world)
    rng = world.rng
    await client.create(kind, root)
    for _ in range(letters):
        to, _, type = rng.choice(EVENTS[kind]).rpartition(" ")
        id = f"{type}-{world.new_id()}{to}"
        await client.send(root, {"type": type, "n": id}, id=id, to=to)
        await asyncio.sleep(rng.choice((0.0, 0.0, 0.02, 0.1, 0.1, 0.3)))
    if rng.random() < FORKS:
        await client.fork(root, rng.randint(1, len(world.history.journals[root])), f"fork of {root}")


async def check(world):
    """Return the problems of the contexts."""
    problems = []
    for root, journal in world.history.journals.items():
        if root.startswith("fork"):
            continue
        context = (await world.runtime.snapshot(root))["context"]
        notes = [entry.event["n"] for entry in journal if entry.to == "" and entry.event["type"] == "NOTE"]
        if context["notes"] != notes:
            problems.append(f"{root}: has notes {context['notes']}, and {notes} were applied")
        problems += CHECKS[root.rstrip("0123456789")](root, context, journal)
    return problems + _actions(world) + _lost_posts(world)


def _actions(world):
    return [f"action {name} was performed {n} times" for name, n in world.history.performed.items() if n > 1]


def _lost_posts(world):
    applied = {(root, entry.letter) for root, journal in world.history.journals.items() for entry in journal}
    missing = sorted(world.history.posted - applied)
    return [f"{root}: letter {id} was posted, and lost" for root, id in missing if _is_always_taken(id)]


def _is_always_taken(id):
    return id.startswith("NOTE") and not id.endswith("kid")


def _caller(root, context, journal):
    calls = [entry.event["n"] for entry in journal if entry.event["type"].startswith("GO_")]
    problems = []
    open = [] if context["call"] is None else [context["call"]]
    if [call for call, _, _ in context["outcomes"]] + open != calls:
        problems.append(f"{root}: calls {calls} had the outcomes {context['outcomes']}, and {open} is open")
    for call, how, text in context["outcomes"]:
        if how == "a stranger's result":
            problems.append(f"{root}: call {call} got a stranger's result")
        talks = call.startswith(("GO_REPORT", "GO_STREAM"))
        if not TEXT.startswith(text) or (how == "done" and talks and text != TEXT):
            problems.append(f"{root}: call {call} ended as {how} and said {text!r}")
    return problems


def _alarm(root, context, journal):
    ends = context["fired"] + context["rearmed"] + context["disarmed"]
    return [] if context["armed"] == ends else [f"{root}: was armed {context['armed']} times: {context}"]


def _parent(root, context, journal):
    ends = context["done"] + context["aborted"]
    return [] if context["started"] == ends else [f"{root}: started {context['started']} children: {context}"]


def _starter(root, context, journal):
    return [] if context["started"] == context["ended"] else [f"{root}: does not end its work: {context}"]


CHECKS = {"caller": _caller, "alarm": _alarm, "parent": _parent, "starter": _starter}
