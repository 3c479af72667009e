"""Time travel: a tree rebuilt at an earlier step of its journal, or forked from there."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from antiphon.runtime.ids import token
from antiphon.runtime.machines import chart_hash
from antiphon.runtime.records import Commit, Entry, Letter, Origin, Saved
from antiphon.runtime.recovery import interruption
from antiphon.runtime.store import Store
from antiphon.runtime.tree import MIGRATED, Tree
from antiphon.runtime.tree_cache import TreeCache

FORKED = "antiphon.forked"


class TimeTravel:
    """Rebuilds trees from their journals, and forks them."""

    def __init__(self, trees: TreeCache, store: Store, now: Callable[[], int], new_id: Callable[[], str]) -> None:
        self._trees = trees
        self._store = store
        self._now = now
        self._new_id = new_id

    async def rebuild(self, root: str, seq: int | None = None) -> Tree:
        """Replay the journal of a tree up to a sequence number; the result is not in the cache."""
        saved = await self._trees.load_saved(root)
        last = saved.seq if seq is None else seq
        if not 1 <= last <= saved.seq:
            raise ValueError(f"{root!r} has steps 1 to {saved.seq}, not {last}")
        entries = await self._store.entries(root, 0, last)
        later = await self._store.entries(root, last, saved.seq) if last < saved.seq else []
        origin = replace(saved.origin, **self._version_before(saved.origin, later))
        migrations = [i for i, entry in enumerate(entries) if entry.event["type"] == MIGRATED]
        tree = self._trees.new_tree(root, self._trees.machine_of(origin), origin)
        start = 1
        if migrations:
            start = migrations[-1] + 1
            snapshot = entries[migrations[-1]].event["snapshot"]
        elif origin.forked_from is not None:
            source = await self.rebuild(origin.forked_from, origin.forked_seq)
            snapshot = source.actor.get_persisted_snapshot()
        else:
            tree.replay_all(entries)
            return tree
        tree.restore(Saved(root, origin, "active", start, snapshot, start))
        for entry in entries[start:]:
            tree.replay(entry)
        return tree

    def _version_before(self, origin: Origin, later: list[Entry]) -> dict[str, Any]:
        """Return the version that a tree had before its later migrations."""
        migrations = [entry.event for entry in later if entry.event["type"] == MIGRATED]
        if not migrations:
            return {}
        machine = self._trees.machine_in(origin.machine, migrations[0]["from"])
        return {"version": machine.version, "hash": chart_hash(machine)}

    async def fork(self, root: str, seq: int, new: str | None) -> Commit:
        """Store a new tree that starts from another one at a sequence number.

        Its timers have the same time left as there. Its tasks are reported as interrupted: their work was done, or
        is being done, for the other tree.
        """
        source = await self.rebuild(root, seq)
        id = new or self._new_id()
        now = self._now()
        history = self._new_id()
        hash = chart_hash(source.machine)  # that of the source may be one of an earlier release
        origin = replace(source.origin, history=history, hash=hash, forked_from=root, forked_seq=seq)
        snapshot = source.actor.get_persisted_snapshot()
        event = {"type": FORKED, "from": root, "seq": seq}
        entry = Entry(id, 1, now, "", event, None, snapshot.get("value"), source.status)
        delay = now - source.host.now
        timers = [
            _move_timer(letter, id, token(history, 1, i), delay)
            for i, letter in enumerate(source.host.letters.values())
        ]
        reports = [interruption(task._replace(root=id), now, fenced=False) for task in source.host.tasks.values()]
        commit = Commit(
            id, 0, now, source.status, origin=origin, entries=(entry,), letters=(*timers, *reports), snapshot=snapshot
        )
        await self._trees.commits.make(commit)
        return commit


def _move_timer(letter: Letter, root: str, id: str, delay_ms: int) -> Letter:
    """Copy a delayed letter to a fork, with the same time left."""
    return letter._replace(id=id, root=root, at=letter.at + delay_ms, due=letter.due + delay_ms)
