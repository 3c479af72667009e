"""Reading trees beside whoever runs them: from the store alone, changing nothing."""

from collections.abc import Iterable
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.runtime.errors import UnknownRoot
from antiphon.runtime.machines import Machines
from antiphon.runtime.store import Store
from antiphon.runtime.tree import Tree


class Reader:
    """Shows trees as they are stored."""

    def __init__(self, store: Store, machines: Iterable[Machine[Any, Any]]) -> None:
        self.store, self._machines = store, Machines(machines)

    async def snapshot(self, root: str) -> Any:
        """A tree's snapshot as JSON, as it was last stored."""
        saved = await self.store.load(root)
        if saved is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        tree = Tree(root, self._machines.of(saved.birth), saved.birth, 0)
        tree.recover(saved)
        return tree.actor.get_persisted_snapshot()
