"""The trees in memory: loaded when they are needed, forgotten when they are idle or wrong."""

import asyncio
from collections.abc import Callable
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.runtime.errors import Quarantined, StoreCorrupt, UnknownMachine, UnknownRoot
from antiphon.runtime.machines import Machines
from antiphon.runtime.records import Birth, Letter, Saved
from antiphon.runtime.store import Store
from antiphon.runtime.tree import Tree


class Woods:
    """Trees by id, the least recently used first to go."""

    def __init__(
        self,
        store: Store,
        machines: Machines,
        limit: int,
        is_idle: Callable[[Tree], bool],
        now: Callable[[], int],
        snapshot_every: int,
    ) -> None:
        self._store, self._machines, self._limit = store, machines, limit
        self._is_idle, self._now, self._snapshot_every = is_idle, now, snapshot_every
        # Letters that were stored while their tree was being loaded.
        self._missed: dict[str, list[Letter]] = {}
        self._trees: dict[str, Tree] = {}
        self._loading: dict[str, asyncio.Future[None]] = {}
        self.epoch = 0

    def known(self, root: str) -> Tree | None:
        """A tree, if it is in memory."""
        return self._trees.get(root)

    def at_hand(self, root: str) -> Tree | None:
        """A tree, if it is in memory, to be used now."""
        tree = self._trees.pop(root, None)
        if tree is not None:
            self._trees[root] = tree  # the most recently used is the last
        return tree

    def add(self, tree: Tree) -> None:
        """Keep a tree."""
        self._trees[tree.root] = tree
        if len(self._trees) > self._limit:
            self._thin_out(tree)

    def plant(self, root: str, machine: Machine[Any, Any], birth: Birth) -> Tree:
        """A tree that has not begun yet."""
        return Tree(root, machine, birth, self.epoch, self._snapshot_every)

    def posted(self, letter: Letter) -> None:
        """Know of a letter that was stored for a tree, in memory or on its way there."""
        tree = self._trees.get(letter.root)
        if tree is not None:
            tree.posted[letter.id] = letter
        elif letter.root in self._loading:
            self._missed.setdefault(letter.root, []).append(letter)

    def forget(self, root: str) -> None:
        """Keep a tree no more."""
        self._trees.pop(root, None)

    async def tree(self, root: str) -> Tree:
        """A tree, in memory now; who asks while it is being loaded waits for the same load."""
        while (tree := self.at_hand(root)) is None:
            loading = self._loading.get(root)
            if loading is not None:
                await asyncio.wait([loading])
                continue
            self._loading[root] = asyncio.get_running_loop().create_future()
            try:
                loaded = await self._load(root)
                loaded.posted.update((letter.id, letter) for letter in self._missed.get(root, ()))
                self.add(loaded)
            finally:
                self._missed.pop(root, None)
                self._loading.pop(root).set_result(None)
        return tree

    async def find(self, root: str) -> Tree | None:
        """A tree, unless there is none, or none that can be run here."""
        try:
            return await self.tree(root)
        except (UnknownRoot, UnknownMachine, Quarantined, StoreCorrupt):
            return None

    async def saved(self, root: str) -> Saved:
        """A tree as it is stored."""
        saved = await self._store.load(root)
        if saved is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        return saved

    def machine_of(self, birth: Birth) -> Machine[Any, Any]:
        """The machine a tree was made by."""
        return self._machines.of(birth)

    def machine_in(self, id: str, version: Any) -> Machine[Any, Any]:
        """A machine in a version."""
        return self._machines.version(id, version)

    async def _load(self, root: str) -> Tree:
        saved = await self.saved(root)
        if saved.status == "quarantined":
            raise Quarantined(f"{root!r} is set aside because a letter could not be taken; see its dead letters")
        machine, current = self._machines.of(saved.birth), self._machines.current(saved.birth.machine)
        tree = self.plant(root, machine, saved.birth)
        tree.recover(saved)
        if current is not machine and current.migrate is not None and tree.status == "active":
            commit = tree.migrate(current, self._now())
            await self._store.commit([commit])
        return tree

    def _thin_out(self, newest: Tree) -> None:
        idle = [root for root, tree in self._trees.items() if tree is not newest and self._is_idle(tree)]
        for root in idle[: max(1, self._limit // 10)]:
            del self._trees[root]
