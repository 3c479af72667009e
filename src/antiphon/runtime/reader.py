"""Read-only access to trees that another process may be running."""

from collections.abc import Iterable
from typing import Any

from antiphon.runtime.errors import UnknownRoot
from antiphon.runtime.machines import AnyMachine, Machines, can_run
from antiphon.runtime.records import RootState
from antiphon.runtime.store import Store
from antiphon.runtime.tree import Tree


class Reader:
    """Reads trees from the store and changes nothing."""

    def __init__(self, store: Store, machines: Iterable[AnyMachine]) -> None:
        self.store = store
        self._machines = Machines(machines)

    async def snapshot(self, root: str, *, copy: bool = False) -> Any:
        """Return the last stored snapshot of a tree as JSON: read-only, unless `copy`."""
        return (await self._load(root)).view(copy=copy)

    async def state(self, root: str) -> RootState:
        """Return the last stored state of a root actor, without its descendants."""
        return (await self._load(root)).root_state

    def can_run(self, machine: str, version: Any, hash: str) -> bool:
        """Return whether trees of a version of a machine can be read here."""
        return can_run(self._machines, machine, version, hash)

    async def _load(self, root: str) -> Tree:
        saved = await self.store.load(root)
        if saved is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        tree = Tree(root, self._machines.of(saved.origin), saved.origin, 0)
        tree.restore(saved)
        return tree
