"""Threads read beside whoever runs them: from the file alone, changing nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from antiphon.composition import compose
from antiphon.providers.base import Provider
from antiphon.providers.errors import Code, ProviderError
from antiphon.runtime.reader import Reader
from antiphon.stores.ownership import owner_of
from antiphon.stores.sqlite import SqliteStore
from antiphon.threads.library import Library


class LeftBehind(Reader):
    """Shows what no process runs: whatever was running when it was last stored is interrupted."""

    async def snapshot(self, root: str) -> Any:
        """A thread as it will be found by whoever opens the store next."""
        found = await super().snapshot(root)
        return {**found, "value": "interrupted"} if found["value"] == "running" else found


@asynccontextmanager
async def reading(path: Path) -> AsyncIterator[Library]:
    """The threads of a store's file, whoever owns it, or nobody."""
    store = SqliteStore(path, read_only=True)
    await store.open()
    reader = LeftBehind if owner_of(path) is None else Reader
    try:
        yield Library(reader(store, [compose(_nobody)]))
    finally:
        await store.close()


def _nobody(reference: str) -> Provider:
    raise ProviderError(Code.UNSUPPORTED, "a reader asks no model")
