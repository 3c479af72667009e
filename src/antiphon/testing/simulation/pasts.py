"""Pasts of a simulated store: backups that can be restored, and readers whose cursors outlive processes."""

import asyncio
from random import Random
from typing import Any

from antiphon.runtime.errors import OtherHistory, StoreError
from antiphon.runtime.histories import HistoryIds
from antiphon.runtime.runtime import Runtime
from antiphon.runtime.store import Store
from antiphon.stores.memory import MemoryStore
from antiphon.testing.simulation.history import History

FREQUENCY = 0.2  # of the ticks of the world, a backup is made


class Backups:
    """Backups of a store in memory; other stores are never restored."""

    def __init__(self, rng: Random, store: Store, history: History) -> None:
        self._rng = rng
        self._store = store
        self._history = history
        self._backups: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def tick(self) -> None:
        """Make a backup from time to time."""
        if isinstance(self._store, MemoryStore) and self._rng.random() < FREQUENCY:
            self._backups.append((self._store.backup(), self._history.remember()))

    def restore(self) -> str:
        """Restore a backup that has all trees, if there is one; later ones are lost. Return what happened."""
        roots = self._history.journals.keys()
        complete = [i for i, (trees, _) in enumerate(self._backups) if trees.keys() >= roots]
        if not (complete and isinstance(self._store, MemoryStore)):
            return "there is no backup to restore"
        chosen = self._rng.choice(complete)
        del self._backups[chosen + 1 :]
        trees, past = self._backups[chosen]
        lost = {HistoryIds(tree.origin[0]).current for tree in self._store.trees.values()}
        self._store.restore(trees, f"{self._rng.getrandbits(64):016x}")
        self._history.return_to(past, lost)
        self._history.counts["backups restored"] += 1
        return f"backup {chosen + 1} is restored: {[f'{root} at {tree.seq}' for root, tree in trees.items()]}"


class Readers:
    """Readers of feeds, one for each tree."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._cursors: dict[str, str] = {}

    async def read(self, root: str, runtime: Runtime) -> None:
        """Read the feed of a tree from where the reader was in an earlier process."""
        while True:
            try:
                stored, _ = await runtime.store.history(root)
                ids = HistoryIds(stored)
                async for entry in runtime.feed(root, self._cursors.get(root, 0), wait_for_release=True):
                    self._history.record_feed(root, entry)
                    self._cursors[root] = ids.cursor(entry.seq)
                return
            except OtherHistory as error:
                self._history.record_other_history(root, error.shared)
                self._cursors[root] = error.resume
            except StoreError:
                await asyncio.sleep(0.01)
