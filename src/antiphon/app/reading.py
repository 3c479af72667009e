"""Threads read beside whoever runs them: from the file alone, changing nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from antiphon.app.composition import compose
from antiphon.app.library import Library
from antiphon.providers.base import Provider
from antiphon.providers.errors import Code, ProviderError
from antiphon.runtime.reader import Reader
from antiphon.stores.sqlite import SqliteStore


@asynccontextmanager
async def reading(path: Path) -> AsyncIterator[Library]:
    """The threads of a store's file, whoever owns it."""
    store = SqliteStore(path, read_only=True)
    await store.open()
    try:
        yield Library(Reader(store, [compose(_nobody)]))
    finally:
        await store.close()


def _nobody(reference: str) -> Provider:
    raise ProviderError(Code.UNSUPPORTED, "a reader asks no model")
