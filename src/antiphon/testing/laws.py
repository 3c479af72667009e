"""Laws that hold for every tree of a runtime at rest, whatever happened before.

1. The journal has no gap, every step gives the same when it is replayed, and replaying the journal gives the snapshot,
   the timers and the tasks that are stored.
2. A timer fired only while it was set; no letter is overdue or from the future.
3. A result was applied only to the task that was open; every open task is being run.
4. A tree rebuilt at half of its steps from a snapshot is the same as by replaying the journal up to there.
5. If the runtime has a projection, the row of a tree in the index is the one that its journal gives.
"""

from collections.abc import Collection
from typing import Any

from antiphon.actors.tasks import REJECT, RESOLVE
from antiphon.runtime.records import Entry, Saved
from antiphon.runtime.runtime import Runtime
from antiphon.runtime.store import Store
from antiphon.runtime.tree import MIGRATED, Tree

OVERDUE_MS = 60_000


async def broken_laws(
    runtime: Runtime, store: Store, overdue_ms: int = OVERDUE_MS, *, roots: Collection[str] | None = None
) -> list[str]:
    """Return a description of every violation of the laws by the trees of a runtime, or by some of them."""
    broken: list[str] = []
    for summary in await store.roots():
        if roots is not None and summary.root not in roots:
            continue
        saved = await store.load(summary.root)
        assert saved is not None
        if saved.origin.forked_from is None:
            entries = await store.entries(summary.root, 0, saved.seq + 1)
            broken += await _check_journal(runtime, saved, entries)
        else:
            broken += await _check_fork(runtime, saved)
        broken += _check_open(runtime, saved, overdue_ms)
        broken += await _check_index(runtime, store, summary.root)
    return broken


async def _check_journal(runtime: Runtime, saved: Saved, entries: list[Entry]) -> list[str]:
    """Replay a journal step by step."""
    root = saved.root
    if [entry.seq for entry in entries] != list(range(1, saved.seq + 1)):
        return [f"{root}: the journal has {[entry.seq for entry in entries]}, and should end at {saved.seq}"]
    tree = _first_tree(runtime, saved, entries)
    broken: list[str] = []
    for entry in entries[1:]:
        if entry.event["type"] == MIGRATED:
            tree = await runtime.time_travel.rebuild(root, entry.seq)
            continue
        if entry.timer is not None and entry.timer not in tree.host.letters:
            broken.append(f"{root}: timer {entry.timer} fired at {entry.seq}, and was not set any more")
        if entry.event["type"] in (RESOLVE, REJECT):
            broken += _check_result(tree, entry)
        tree.replay(entry, accept=True)
        if entry.seq == saved.seq // 2:
            broken += await _compare_rebuilt(runtime, tree)
    return broken + tree.warnings + await _compare_replay(runtime, saved, tree)


def _first_tree(runtime: Runtime, saved: Saved, entries: list[Entry]) -> Tree:
    """Return a tree after its first step, in the version that it was created with."""
    versions = [entry.event["from"] for entry in entries if entry.event["type"] == MIGRATED]
    version = versions[0] if versions else saved.origin.version
    tree = Tree(saved.root, runtime.machines.version(saved.origin.machine, version), saved.origin, 0)
    tree.replay_all(entries[:1], accept=True)
    return tree


async def _compare_rebuilt(runtime: Runtime, tree: Tree) -> list[str]:
    """Compare a tree in the middle of a replay with the one that is rebuilt from the nearest snapshot."""
    rebuilt = await runtime.time_travel.rebuild(tree.root, tree.seq)
    pairs = zip(_visible_state(rebuilt), _visible_state(tree), strict=True)
    return [
        f"{tree.root}: rebuilt at step {tree.seq} from a snapshot: {from_snapshot}, and by replaying: {replayed}"
        for from_snapshot, replayed in pairs
        if from_snapshot != replayed
    ]


def _visible_state(tree: Tree) -> tuple[Any, ...]:
    """Return all that a fork of a tree depends on."""
    timers = [(letter.id, letter.event, letter.to, letter.due - letter.at) for letter in tree.host.letters.values()]
    tasks = [(task.id, task.to, task.src, task.safety) for task in tree.host.tasks.values()]
    return tree.actor.get_persisted_snapshot(), timers, sorted(tasks), tree.host.now


async def _compare_replay(runtime: Runtime, saved: Saved, tree: Tree) -> list[str]:
    """Compare the outcome of a replay with what is stored."""
    # Delays, since waiting letters are moved if the clock was ahead.
    timers = {letter.id: letter.due - letter.at for letter in saved.letters if letter.timer is not None}
    tasks = {task.id: task.to for task in saved.tasks}
    pairs = [
        ("snapshot", tree.actor.get_persisted_snapshot(), await runtime.snapshot(saved.root)),
        ("timers", {letter.id: letter.due - letter.at for letter in tree.host.letters.values()}, timers),
        ("tasks", {task.id: task.to for task in tree.host.tasks.values()}, tasks),
    ]
    return [
        f"{saved.root}: the {name} after replaying the journal: {replayed}, and stored: {stored}"
        for name, replayed, stored in pairs
        if replayed != stored
    ]


async def _check_fork(runtime: Runtime, saved: Saved) -> list[str]:
    """Replay the journal of a fork from its first snapshot."""
    tree = await runtime.time_travel.rebuild(saved.root)
    replayed = tree.actor.get_persisted_snapshot()
    loaded = await runtime.snapshot(saved.root)
    return [] if replayed == loaded else [f"{saved.root}: the fork replays to {replayed}, and stored is {loaded}"]


async def _check_index(runtime: Runtime, store: Store, root: str) -> list[str]:
    """Compare the row of a tree with the one that is projected from its journal."""
    if runtime.trees.projector.projection is None:
        return []
    change = await runtime.index.project(root)
    projected = None if change is None else change.row
    listed = (await store.index.get([root])).get(root)
    stored = None if listed is None else listed.row
    if change is None or stored == projected:
        return []
    return [f"{root}: the row in the index is {stored}, and its journal gives {projected}"]


def _check_result(tree: Tree, entry: Entry) -> list[str]:
    task = tree.host.tasks.get(entry.to)
    if task is None:
        return [f"{tree.root}: entry {entry.seq} is a result for {entry.to!r}, which has no task"]
    data: Any = entry.event.get("data")
    source = data.get("task") if isinstance(data, dict) else None
    if source is not None and source != task.id:
        return [f"{tree.root}: entry {entry.seq} is the result of {source}, and the task was {task.id}"]
    return []


def _check_open(runtime: Runtime, saved: Saved, overdue_ms: int) -> list[str]:
    """Check that no letter is overdue, and that every stored task is running."""
    now = runtime.now()
    late = [letter for letter in saved.letters if letter.due < now - overdue_ms]
    early = [letter for letter in saved.letters if letter.at > now]
    idle = [task for task in saved.tasks if task.id not in runtime.tasks._running]
    return [
        *(f"{saved.root}: letter {letter.id} has been due for {now - letter.due} ms" for letter in late),
        *(f"{saved.root}: letter {letter.id} is from {letter.at - now} ms after now" for letter in early),
        *(f"{saved.root}: task {task.id} is stored as running, but is not run" for task in idle),
    ]
