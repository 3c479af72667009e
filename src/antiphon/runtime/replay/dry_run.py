"""Dry replay: the journals of a store replayed with the machines of today, to see what would differ."""

from collections.abc import Callable
from typing import Any, NamedTuple

from antiphon.runtime.errors import RuntimeFault, UnknownRoot
from antiphon.runtime.machines import AnyMachine, Machines
from antiphon.runtime.records import Entry, Origin, Saved
from antiphon.runtime.replay.comparison import ReplayDifference
from antiphon.runtime.replay.time_travel import FORKED
from antiphon.runtime.store import Store
from antiphon.runtime.tree import MIGRATED, Tree

PAGE = 1000


class TreeReplay(NamedTuple):
    """Replay of one journal."""

    root: str
    machine: str
    steps: int  # that were replayed
    differences: tuple[ReplayDifference, ...] = ()  # those after the first may be consequences of it
    problem: str | None = None  # for which the journal could not be replayed to its end

    @property
    def is_same(self) -> bool:
        """True if the whole journal was replayed and nothing differs."""
        return not self.differences and self.problem is None


class DryReplay:
    """Replays journals and changes nothing.

    A tree runs the machine of its id, in its own version if that is registered, else in the current one. Unlike a
    runtime, this does not ask whether the chart has changed: that is to be found out.
    """

    def __init__(self, store: Store, machines: Machines, release: str | None = None) -> None:
        self._store = store
        self._machines = machines
        self._release = release

    async def replay_all(self, progress: Callable[[int, int], None] = lambda done, total: None) -> list[TreeReplay]:
        """Replay the journals of all trees; report progress in steps."""
        trees = []
        after = ""
        while page := await self._store.roots(after, PAGE):
            trees += page
            after = page[-1].root
        total = sum(tree.seq for tree in trees)
        done = 0
        reports = []
        for tree in trees:
            reports.append(await self.replay(tree.root))
            done += tree.seq
            progress(done, total)
        return reports

    async def replay(self, root: str) -> TreeReplay:
        """Replay the journal of one tree, from its last migration on if it has one."""
        saved = await self._store.load(root)
        if saved is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        try:
            machine = self._machine_of(saved.origin)
            base = await self._base(saved, saved.seq)
        except RuntimeFault as error:
            return TreeReplay(root, saved.origin.machine, 0, problem=str(error))
        tree = Tree(root, machine, saved.origin, 0, release=self._release)
        problem = _replay(tree, base)
        return TreeReplay(root, machine.id, tree.seq - base.snapshot_seq, tuple(tree.differences), problem)

    def _machine_of(self, origin: Origin) -> AnyMachine:
        try:
            return self._machines.version(origin.machine, origin.version)
        except RuntimeFault:
            return self._machines.current(origin.machine)

    async def _base(self, saved: Saved, last: int) -> Saved:
        """Return the state that replaying up to step `last` starts from, and the entries after it."""
        entries = await self._read(saved.root, last)
        if not entries or entries[0].seq != 1:  # the journal was shortened
            return Saved(saved.root, saved.origin, "active", last, saved.snapshot, saved.snapshot_seq, saved.entries)
        start = max((entry.seq for entry in entries if entry.event["type"] == MIGRATED), default=0)
        snapshot = entries[start - 1].event["snapshot"] if start else None
        if not start and entries[0].event["type"] == FORKED:
            start = 1
            snapshot = await self._fork_snapshot(saved.origin)
        return Saved(saved.root, saved.origin, "active", last, snapshot, start, tuple(entries[start:]))

    async def _read(self, root: str, last: int) -> list[Entry]:
        entries: list[Entry] = []
        while page := await self._store.entries(root, entries[-1].seq if entries else 0, PAGE):
            entries += [entry for entry in page if entry.seq <= last]
            if page[-1].seq >= last:
                break
        return entries

    async def _fork_snapshot(self, origin: Origin) -> Any:
        """Return the snapshot of the tree that a fork started from, at the step where it started."""
        source = None if origin.forked_from is None else await self._store.load(origin.forked_from)
        if source is None or origin.forked_seq is None:
            raise UnknownRoot(f"the tree {origin.forked_from!r}, of which this is a fork, does not exist any more")
        tree = Tree(source.root, self._machine_of(origin), source.origin, 0)
        problem = _replay(tree, await self._base(source, origin.forked_seq))
        if problem is not None:
            raise RuntimeFault(f"the tree {source.root!r}, of which this is a fork, cannot be replayed: {problem}")
        return tree.actor.get_persisted_snapshot()


def _replay(tree: Tree, base: Saved) -> str | None:
    """Replay entries and accept differences; return the reason if that is not possible to the end."""
    try:
        tree.restore(base, accept=True)
    except Exception as error:  # of the code of today, which may not fit the journal
        return f"step {tree.seq + 1}: {type(error).__name__}: {error}"
    return None
