"""SQLite under simulation: each boot opens the file anew, as a new process would."""

import asyncio

from antiphon.stores.sqlite import SqliteStore


class RebootedStore:
    """Store whose file is opened again at each boot."""

    def __init__(self, path):
        self._path = path
        self._store = None

    async def open(self):
        if self._store is not None:
            await self._store.close()
        self._store = SqliteStore(self._path, durability="normal")
        return await self._store.open()

    async def close(self):
        """Keep the file open: the simulation reads the store after the process has stopped."""

    def finish(self):
        """Close the file."""
        asyncio.run(self._store.close())

    def __getattr__(self, name):
        return getattr(self._store, name)
