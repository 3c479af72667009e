"""What must be true of every tree when the faults have stopped and everything has come to rest.

1. The journal has no gap, and going over it again gives the snapshot, the timers and the tasks that are stored.
2. A timer fired only if it was still set; no letter is overdue.
3. A result was applied only to the task that was open; every open task is being run.
4. Feeds have given every entry.

What can be checked as it happens is checked by `history.py`: letters are applied once and where their receipts say,
timers fire once and not early, tasks run only when they are stored and as often as their class allows.
"""

from typing import Any

from antiphon.actors.tasks import REJECT, RESOLVE
from antiphon.runtime.records import Entry, Saved
from antiphon.runtime.tree import Tree
from antiphon.testing.simulation.world import World

OVERDUE_MS = 60_000


async def broken_laws(world: World) -> list[str]:
    """What is wrong with the world, in words."""
    found = list(world.history.broken)
    summaries = await world.store.roots()
    for summary in summaries:
        saved = await world.store.load(summary.root)
        assert saved is not None
        entries = await world.store.entries(summary.root, 0, saved.seq + 1)
        if saved.birth.forked_from is None:
            found += await _journal(world, saved, entries)
        else:
            found += await _fork(world, saved)
        found += _open(world, saved)
        if world.history.fed.get(summary.root, 0) != saved.seq:
            found.append(f"{summary.root}: the feed ended at {world.history.fed.get(summary.root, 0)} of {saved.seq}")
    return found


async def _journal(world: World, saved: Saved, entries: list[Entry]) -> list[str]:
    """Go over a journal again, step by step."""
    root = saved.root
    if [entry.seq for entry in entries] != list(range(1, saved.seq + 1)):
        return [f"{root}: the journal has {[entry.seq for entry in entries]}, and should end at {saved.seq}"]
    if entries != world.history.journals[root]:
        return [f"{root}: the journal is not what was stored"]
    tree = Tree(root, world.runtime.woods.machine_of(saved.birth), saved.birth, 0)
    tree.replay_all(entries[:1])
    found = []
    for entry in entries[1:]:
        if entry.timer is not None and entry.timer not in tree.host.letters:
            found.append(f"{root}: timer {entry.timer} fired at {entry.seq}, and was not set any more")
        if entry.event["type"] in (RESOLVE, REJECT):
            found += _result(tree, entry)
        tree.replay(entry)
    loaded = await world.runtime.snapshot(root)
    if tree.actor.get_persisted_snapshot() != loaded:
        found.append(f"{root}: replay gives {tree.actor.get_persisted_snapshot()}, and stored is {loaded}")
    timers = {letter.id: letter.due for letter in saved.letters if letter.timer is not None}
    expected = {letter.id: letter.due for letter in tree.host.letters.values()}
    if timers != expected:
        found.append(f"{root}: the timers {timers} are stored, and {expected} follow from the journal")
    tasks = {task.id: task.to for task in saved.tasks}
    wanted = {task.id: task.to for task in tree.host.tasks.values()}
    if tasks != wanted:
        found.append(f"{root}: the tasks {tasks} are stored, and {wanted} follow from the journal")
    return found


async def _fork(world: World, saved: Saved) -> list[str]:
    """Go over the journal of a fork again, from where it left its origin."""
    tree = await world.runtime.past.rebuild(saved.root)
    loaded = await world.runtime.snapshot(saved.root)
    if tree.actor.get_persisted_snapshot() == loaded:
        return []
    return [f"{saved.root}: replay gives {tree.actor.get_persisted_snapshot()}, and stored is {loaded}"]


def _result(tree: Tree, entry: Entry) -> list[str]:
    task = tree.host.tasks.get(entry.to)
    if task is None:
        return [f"{tree.root}: entry {entry.seq} is a result for {entry.to!r}, which has no task"]
    data: Any = entry.event.get("data")
    said = data.get("task") if isinstance(data, dict) else None
    if said is not None and said != task.id:
        return [f"{tree.root}: entry {entry.seq} is the result of {said}, and the task was {task.id}"]
    return []


def _open(world: World, saved: Saved) -> list[str]:
    """What is open must be in somebody's hands."""
    now, runtime = world.wall(), world.runtime
    found = [
        f"{saved.root}: letter {letter.id} has been waiting since {now - letter.due} ms"
        for letter in saved.letters
        if letter.due < now - OVERDUE_MS
    ]
    for task in saved.tasks:
        if task.id not in runtime.tasks._running:
            found.append(f"{saved.root}: task {task.id} is stored as running, and nobody runs it")
    return found
