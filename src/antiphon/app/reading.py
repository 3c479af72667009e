"""Threads and debates read beside whoever runs them: from the file alone, changing nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from antiphon.app.composition import compose
from antiphon.app.debate_shelf import DebateShelf
from antiphon.app.library import Library
from antiphon.providers.base import Provider
from antiphon.providers.errors import Code, ProviderError
from antiphon.runtime.reader import Reader
from antiphon.stores.sqlite import SqliteStore


@asynccontextmanager
async def reading(path: Path) -> AsyncIterator[Library]:
    """The threads of a store's file, whoever owns it."""
    async with _stored(path) as reader:
        yield Library(reader)


@asynccontextmanager
async def reading_debates(path: Path) -> AsyncIterator[DebateShelf]:
    """The debates of a store's file, whoever owns it."""
    async with _stored(path) as reader:
        yield DebateShelf(reader)


@asynccontextmanager
async def _stored(path: Path) -> AsyncIterator[Reader]:
    store = SqliteStore(path, read_only=True)
    await store.open()
    try:
        yield Reader(store, [compose(_nobody)])
    finally:
        await store.close()


def _nobody(reference: str) -> Provider:
    raise ProviderError(Code.UNSUPPORTED, "a reader asks no model")
