"""Rows and texts of trees rebuilt from their journals.

1. A journal is replayed, and each of its steps projected, as when it was taken.
2. If the first steps cannot be replayed, because they were compacted or taken by another version of the machine, the
   replay begins with the first state that can be restored, which is projected as a whole.
3. A tree that no machine here can run is indexed by what its journal says.
"""

from collections.abc import Callable
from typing import Any

from antiphon.runtime.errors import (
    NotOwner,
    StoreCorrupt,
    StoreError,
    Undecodable,
    UnknownRoot,
    Unstorable,
)
from antiphon.runtime.index.projection import UNCHANGED
from antiphon.runtime.index.rows import IndexChange, merge_changes
from antiphon.runtime.records import Entry
from antiphon.runtime.replay.damage import read_damaged
from antiphon.runtime.replay.time_travel import TimeTravel
from antiphon.runtime.tree import MIGRATED, Tree
from antiphon.runtime.tree_cache import TreeCache

Progress = Callable[[int, int], None]  # trees done, and their total
PAGE = 1000
OF_ONE_TREE = (StoreCorrupt, Undecodable, Unstorable)
RESTORED = "antiphon.restored"  # the event of a state that is projected as a whole


class IndexRebuild:
    """Indexes trees again, by the projection of a cache of trees."""

    def __init__(self, trees: TreeCache, now: Callable[[], int], new_id: Callable[[], str]) -> None:
        self._store = trees.store
        self._trees = trees
        self._projector = trees.projector
        self.time_travel = TimeTravel(trees, trees.store, now, new_id)

    async def run(self, progress: Progress | None = None, *, everything: bool = False) -> int:
        """Index the trees whose rows are missing or of another version, or all trees; return their number."""
        projection = self._projector.projection
        if projection is None:
            return 0
        if everything:
            await self._store.index.clear()
        roots = await self._store.index.find_outdated(projection.version)
        for done, root in enumerate(roots):
            if progress is not None:
                progress(done, len(roots))
            await self.rebuild(root)
        if progress is not None:
            progress(len(roots), len(roots))
        return len(roots)

    async def rebuild(self, root: str) -> None:
        """Replace the row and the texts of a tree."""
        projection = self._projector.projection
        summary = None if projection is None else await self._store.summary(root)
        if projection is None or summary is None:
            return
        version = projection.version
        change: IndexChange | None = None
        if summary.machine in projection.machines:
            try:
                change = await self.project(root)
            except Exception as error:
                # What a machine raises, or a damaged row, concerns this tree; other errors of the store concern all.
                if isinstance(error, NotOwner | UnknownRoot | StoreError) and not isinstance(error, OF_ONE_TREE):
                    raise
                input, entries = await read_damaged(self._store, root)
                change = projection.project_journal(root, input, entries, error)
                version = -version  # by its journal: the next start tries again
        await self._store.index.replace(root, change or IndexChange(summary.updated), version)

    async def project(self, root: str) -> IndexChange | None:
        """Return the row and the texts of a tree, from its journal."""
        try:
            return await self._project_steps(root)
        except StoreError:
            raise
        except Exception:  # steps that no machine here can replay, though it may restore the last state
            return await self._project_state(root)

    async def _project_steps(self, root: str) -> IndexChange | None:
        """Project every step since the first state that can be restored."""
        start = await self._first_step(root)
        tree = await self.time_travel.rebuild(root, start)
        changes = [tree.projector.project(None, tree.actor, await self._entry_up_to(root, start))]

        def project(entry: Entry) -> None:
            state = tree.projector.before(tree.actor, tree.host.previous)
            if state is not UNCHANGED:
                changes.append(tree.projector.project(state, tree.actor, entry))

        tree.on_replay = project
        while page := await self._store.entries(root, tree.seq, PAGE):
            for entry in page:
                tree.replay(entry, accept=True)
        return merge_changes([change for change in changes if change is not None])

    async def _project_state(self, root: str) -> IndexChange | None:
        """Project the last state, if the steps before it cannot be replayed."""
        saved = await self._trees.load_saved(root)
        tree: Tree = self._trees.new_tree(root, self._trees.machine_of(saved.origin), saved.origin)
        tree.restore(saved, accept=True)
        return tree.projector.project(None, tree.actor, await self._entry_up_to(root, saved.seq))

    async def _first_step(self, root: str) -> int:
        """Return the first step whose state can be restored: of the last migration, or of the journal."""
        saved = await self._trees.load_saved(root)
        start = max(1, saved.first - 1)
        after = saved.first - 1
        while page := await self._store.entries(root, after, PAGE):
            start = max([start, *(entry.seq for entry in page if entry.event["type"] == MIGRATED)])
            after = page[-1].seq
        return start

    async def _entry_up_to(self, root: str, seq: int) -> Entry:
        """Return the entry of a step, with the events that were emitted by it and by all steps before it.

        They may tell what a state that is projected as a whole has lost. Of a step that was removed, only the place is
        left, and the time of the next one.
        """
        after = (await self._trees.load_saved(root)).first - 1
        if after >= seq:
            times = [entry.at for entry in await self._store.entries(root, after, 1)]
            return Entry(root, seq, times[0] if times else 0, "", {"type": RESTORED})
        emitted: list[Any] = []
        while page := await self._store.entries(root, after, min(PAGE, seq - after)):
            emitted += [event for entry in page for event in entry.emitted]
            last = page[-1]
            after = last.seq
        return last._replace(emitted=tuple(emitted))
