"""Stores that are opened for the duration of a test."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from antiphon.stores.sqlite import SqliteStore

T = TypeVar("T")


def use(store: SqliteStore, work: Callable[[SqliteStore], Awaitable[T]]) -> T:
    """Open a store, run a coroutine on it, and close it."""

    async def main() -> T:
        await store.open()
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(main())


def empty_log(store: SqliteStore) -> None:
    """Copy the log of a store into its file and truncate it, so that its size shows how much is written."""
    store._db().execute("pragma wal_checkpoint(truncate)").fetchall()
