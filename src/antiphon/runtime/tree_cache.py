"""Loaded trees: read from the store when they are needed, dropped when they are idle or out of date."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from antiphon.runtime.admission import take_value
from antiphon.runtime.commits import Commits
from antiphon.runtime.errors import (
    NotOwner,
    Quarantined,
    RootExists,
    StoreCorrupt,
    StoreError,
    UnknownMachine,
    UnknownRoot,
    Unstorable,
)
from antiphon.runtime.histories import HistoryIds
from antiphon.runtime.index.projection import Projector
from antiphon.runtime.machines import AnyMachine, Machines, chart_hash
from antiphon.runtime.ownership import Ownership
from antiphon.runtime.quarantine import QUARANTINED, Quarantine, format_error, quarantine_error
from antiphon.runtime.records import Incident, Letter, Origin, Saved
from antiphon.runtime.store import Projection, Store
from antiphon.runtime.tree import SNAPSHOT_ENTRIES, Tree

REPLAY_DIFFERS = "replay differs"


class TreeCache:
    """LRU cache of loaded trees."""

    def __init__(
        self,
        store: Store,
        ownership: Ownership,
        machines: Machines,
        limit: int,
        is_idle: Callable[[Tree], bool],
        now: Callable[[], int],
        snapshot_every: int | None = None,
        release: str | None = None,
        projection: Projection | None = None,
    ) -> None:
        self.store = store
        self.ownership = ownership
        self.commits = Commits(store, ownership)
        self.quarantine = Quarantine(store, self.commits, now)
        self._machines = machines
        self._limit = limit
        self._is_idle = is_idle
        self._now = now
        self._snapshot_every = snapshot_every or SNAPSHOT_ENTRIES
        self._release = release
        self.projector = Projector(projection)
        # Letters that were stored while their tree was being loaded.
        self._missed: dict[str, list[Letter]] = {}
        self._trees: dict[str, Tree] = {}
        self._loading: dict[str, asyncio.Future[None]] = {}  # trees that are being loaded
        self._creating: dict[str, asyncio.Future[None]] = {}  # trees that are being created
        self._outdated: set[str] = set()  # trees that were discarded while they were being loaded

    def is_current(self, tree: Tree) -> bool:
        """Return whether a tree has been run here ever since it was loaded or created."""
        return self.ownership.tenure(tree.root) == tree.host.boot

    def get(self, root: str) -> Tree | None:
        """Return a tree if it is loaded."""
        return self._trees.get(root)

    def touch(self, root: str) -> Tree | None:
        """Return a tree if it is loaded, and mark it as the most recently used."""
        tree = self._trees.pop(root, None)
        if tree is not None:
            self._trees[root] = tree  # a dict keeps its order: the most recently used is the last
        return tree

    def add(self, tree: Tree) -> None:
        """Add a loaded tree; evict idle ones if there are too many."""
        self._trees[tree.root] = tree
        if len(self._trees) > self._limit:
            self._evict(tree)

    def add_created(self, tree: Tree) -> None:
        """Add a tree that was just created, with the letters that were stored for it meanwhile."""
        tree.posted.update((letter.id, letter) for letter in self._missed.pop(tree.root, ()))
        self.add(tree)

    def new_tree(self, root: str, machine: AnyMachine, origin: Origin) -> Tree:
        """Create a tree that has taken no step and is not in the cache."""
        tenure = self.ownership.tenure(root) or 0
        return Tree(root, machine, origin, tenure, self._snapshot_every, self._release, self.projector)

    def new_root(self, root: str, machine: AnyMachine, history: str, input: Any) -> Tree:
        """Create a tree with a new history, which is not in the cache; raise `Unstorable` if its input is not JSON."""
        own = take_value(input, "input")
        return self.new_tree(root, machine, Origin(history, machine.id, machine.version, chart_hash(machine), own))

    def add_posted(self, letter: Letter) -> None:
        """Tell a tree that is loaded or being loaded of a letter that was stored for it."""
        tree = self._trees.get(letter.root)
        if tree is not None:
            tree.posted[letter.id] = letter
        elif letter.root in self._loading or letter.root in self._creating:
            self._missed.setdefault(letter.root, []).append(letter)

    async def reserve(self, root: str) -> None:
        """Reserve the id of a new tree until `settle`; loads of it wait."""
        while (pending := self._loading.get(root) or self._creating.get(root)) is not None:
            await asyncio.wait([pending])
        if root in self._trees:
            raise RootExists(f"there is a root actor {root!r} already")
        self._creating[root] = asyncio.get_running_loop().create_future()

    def is_reserved(self, root: str) -> bool:
        """Return whether a tree is being created; the loop must not wait for that, because it takes a turn."""
        return root in self._creating and root not in self._trees

    async def check_free(self, root: str) -> None:
        """Raise `RootExists` if a tree of that id is stored."""
        if await self.store.mark(root) is not None:
            raise RootExists(f"there is a root actor {root!r} already")

    def settle(self, root: str) -> None:
        """End the reservation of an id: its tree is in the cache now, or was not created."""
        self._missed.pop(root, None)
        self._creating.pop(root).set_result(None)

    @asynccontextmanager
    async def unloaded(self, root: str) -> AsyncIterator[None]:
        """Drop a tree, and let loads of it wait while its record in the store is changed."""
        while (pending := self._loading.get(root) or self._creating.get(root)) is not None:
            await asyncio.wait([pending])
        self._trees.pop(root, None)
        self._loading[root] = asyncio.get_running_loop().create_future()
        try:
            yield
        finally:
            self._missed.pop(root, None)
            self._loading.pop(root).set_result(None)

    def discard(self, root: str) -> None:
        """Drop a tree; it is loaded again when it is needed."""
        self._trees.pop(root, None)
        if root in self._loading:
            self._outdated.add(root)

    def unload(self, root: str) -> None:
        """Drop a tree if it is idle."""
        tree = self._trees.get(root)
        if tree is not None and self._is_idle(tree):
            del self._trees[root]

    async def load(self, root: str) -> Tree:
        """Return a tree, from the cache or the store; concurrent calls share one load.

        Raise `NotOwner` if it is not run here. A load is repeated if the tree was discarded meanwhile.
        """
        while (tree := self.touch(root)) is None:
            if (pending := self._loading.get(root) or self._creating.get(root)) is not None:
                await asyncio.wait([pending])
                continue
            self.commits.tenure_of(root)
            self._loading[root] = asyncio.get_running_loop().create_future()
            self._outdated.discard(root)
            try:
                loaded = await self._read(root)
                if root in self._outdated:
                    continue
                loaded.posted.update((letter.id, letter) for letter in self._missed.get(root, ()))
                self.add(loaded)
            finally:
                self._missed.pop(root, None)
                self._loading.pop(root).set_result(None)
        return tree

    async def find(self, root: str) -> Tree | None:
        """Return a tree, or None if it does not exist or cannot be run here."""
        try:
            return await self.load(root)
        except (UnknownRoot, UnknownMachine, Quarantined, NotOwner, StoreCorrupt):
            return None

    async def find_to_check(self, root: str) -> Tree | None:
        """Return a tree whose letters may have to be checked, or None if it cannot be loaded now."""
        tree = self._trees.get(root)
        if tree is None and self._machines.declare_events:
            with suppress(StoreError):
                tree = await self.find(root)
        return tree

    async def load_saved(self, root: str) -> Saved:
        """Return the stored record of a tree."""
        saved = await self.store.load(root)
        if saved is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        return saved

    async def history_of(self, root: str) -> str:
        """Return the id of the history of a tree."""
        tree = self._trees.get(root)
        return tree.host.history if tree is not None else HistoryIds((await self.store.history(root))[0]).current

    def machine_of(self, origin: Origin) -> AnyMachine:
        """Return the machine, in the version, that a stored tree runs."""
        return self._machines.of(origin)

    def machine_in(self, id: str, version: Any) -> AnyMachine:
        """Return a machine in a version."""
        return self._machines.version(id, version)

    async def _read(self, root: str) -> Tree:
        saved = await self.load_saved(root)
        if saved.status == QUARANTINED:
            raise quarantine_error(saved)
        try:
            tree = await self._restore(saved)
        except Exception as error:
            # A function of the machine may return what cannot be stored; other errors of the store are its own.
            if isinstance(error, (StoreError, UnknownMachine, NotOwner)) and not isinstance(error, Unstorable):
                raise
            await self.quarantine.quarantine(root, format_error(error))
            advice = "release it when the cause is mended"
            raise Quarantined(f"{root!r} could not be loaded and is quarantined; {advice}: {error!r}") from error
        return tree

    async def accept(self, root: str) -> None:
        """Load a tree in spite of steps that replay differently, and store its present state."""
        tree = await self._restore(await self.load_saved(root), accept=True)
        await self.commits.make(tree.commit_snapshot(self._now()))

    async def _restore(self, saved: Saved, *, accept: bool = False) -> Tree:
        """Restore a tree, and migrate it if its machine has a newer version."""
        machine = self._machines.of(saved.origin)
        current = self._machines.current(saved.origin.machine)
        tree = self.new_tree(saved.root, machine, saved.origin)
        tree.restore(saved, accept=accept)
        if tree.warnings:
            at = self._now()
            incidents = [Incident(saved.root, saved.seq, at, REPLAY_DIFFERS, text) for text in tree.warnings]
            await self.store.record(incidents)
        if current is not machine and current.migrate is not None and tree.status == "active":
            await self.commits.make(tree.migrate(current, self._now()))
        return tree

    def _evict(self, newest: Tree) -> None:
        """Drop the idle trees that have not been used for longest, a tenth of the limit at a time."""
        idle = [root for root, tree in self._trees.items() if tree is not newest and self._is_idle(tree)]
        for root in idle[: max(1, self._limit // 10)]:
            del self._trees[root]
