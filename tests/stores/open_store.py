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
