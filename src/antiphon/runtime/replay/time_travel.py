"""Time travel: a tree rebuilt at an earlier step of its journal, or forked from there."""

from collections.abc import Callable
from dataclasses import replace

from antiphon.runtime.admission import copy_value
from antiphon.runtime.errors import UnknownRoot
from antiphon.runtime.histories import HistoryIds, change_history, is_continued, new_suffix
from antiphon.runtime.ids import token
from antiphon.runtime.machines import chart_hash
from antiphon.runtime.open_work import open_work_to_json
from antiphon.runtime.records import Commit, Edit, Entry, Letter, Origin, Saved
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
        """Replay a journal up to a step, from the nearest snapshot; the result is not in the cache.

        Without a sequence number the whole journal is replayed, whatever snapshots there are.
        """
        if seq is None:
            return await self._replay_journal(root)
        saved = await self._store.load(root, seq)
        if saved is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        tree = self._new_tree(root, saved.origin)
        entries = saved.entries
        if saved.snapshot is None and tree.origin.forked_from is None:
            tree.replay_all(entries)
            return tree
        if saved.snapshot is None:
            saved = await self._beginning_of_fork(root, tree.origin, entries[0])
            entries = entries[1:]
        tree.restore(replace(saved, seq=saved.snapshot_seq, entries=()))
        tree.host.begin(saved.snapshot_seq, saved.at)
        for entry in entries:
            tree.replay(entry)
        return tree

    def _new_tree(self, root: str, origin: Origin) -> Tree:
        if not origin.hash:  # a version that the tree had before a migration
            machine = self._trees.machine_in(origin.machine, origin.version)
            origin = replace(origin, hash=chart_hash(machine))
        return self._trees.new_tree(root, self._trees.machine_of(origin), origin)

    async def _replay_journal(self, root: str) -> Tree:
        """Replay a journal from its beginning, its compaction, or the last migration."""
        saved = await self._trees.load_saved(root)
        entries = await self._store.entries(root, saved.first - 1, saved.seq)
        migrations = [entry.seq for entry in entries if entry.event["type"] == MIGRATED]
        tree = await self.rebuild(root, migrations[-1] if migrations else max(1, saved.first - 1))
        for entry in entries:
            if entry.seq > tree.seq:
                tree.replay(entry)
        return tree

    async def _beginning_of_fork(self, root: str, origin: Origin, first: Entry) -> Saved:
        """Return the first state of a fork whose first snapshot is gone, from the tree that it was forked from."""
        assert origin.forked_from is not None
        try:
            source = await self.rebuild(origin.forked_from, origin.forked_seq)
        except (UnknownRoot, ValueError) as error:
            raise ValueError(
                f"the first snapshot of {root!r} is gone, and it cannot be forked again: {error}"
            ) from error
        timers = _moved_timers(source, root, origin.history, first.at)
        snapshot = source.actor.get_persisted_snapshot()
        return Saved(root, origin, "active", 1, snapshot, 1, letters=timers, at=first.at)

    async def fork(self, root: str, seq: int, new: str, edit: Edit | None = None) -> Commit:
        """Store a new tree that starts from another one at a sequence number.

        Its timers have the same time left as there. Its tasks are reported as interrupted: their work was done, or
        is being done, for the other tree.
        """
        source = await self.rebuild(root, seq)
        now = self._now()
        stored_history = self._new_id()
        if is_continued(HistoryIds(source.origin.history).current):
            stored_history = change_history(stored_history, 0, new_suffix())
        history = HistoryIds(stored_history).current
        hash = chart_hash(source.machine)  # that of the source may be one of an earlier release
        input = source.origin.input
        snapshot = source.actor.get_persisted_snapshot()
        if edit is not None:
            input, snapshot = edit(copy_value(input), copy_value(snapshot))
        origin = replace(
            source.origin, history=stored_history, hash=hash, input=input, forked_from=root, forked_seq=seq
        )
        event = {"type": FORKED, "from": root, "seq": seq}
        entry = Entry(new, 1, now, "", event, None, snapshot.get("value"), source.status)
        timers = _moved_timers(source, new, history, now)
        reports = [interruption(task._replace(root=new), now, fenced=False) for task in source.host.tasks.values()]
        commit = Commit(
            new,
            0,
            now,
            source.status,
            origin=origin,
            entries=(entry,),
            letters=(*timers, *reports),
            snapshot=snapshot,
            open=open_work_to_json(now, timers, ()),
            index_change=source.projector.project(None, source.actor, entry),
            projection=source.projector.version,
        )
        await self._trees.commits.make(commit)
        return commit


def _moved_timers(source: Tree, root: str, history: str, now: int) -> tuple[Letter, ...]:
    """Copy the open timers of a tree to a fork, with the same time left."""
    timers = []
    for i, letter in enumerate(source.host.letters.values()):
        elapsed_ms = max(0, source.host.now - letter.at)  # the clock may have been set back since
        at = now - elapsed_ms
        due = at + letter.due - letter.at
        timers.append(letter._replace(id=token(history, 1, i), root=root, at=at, due=due))
    return tuple(timers)
